#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::mpi {

/// A communicator of its own, so that its messages meet no one else's. Ranks start at 0, the root.
class Communicator {
 public:
  /// A duplicate of `parent`; collective over it.
  explicit Communicator(MPI_Comm parent);
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator& operator=(Communicator&&) = delete;

  MPI_Comm get() const { return communicator_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  bool is_last() const { return rank_ == size_ - 1; }

  /// The ranks that share this rank's memory, in rank order; collective.
  Communicator on_this_host() const;

 private:
  struct Adopt {};
  Communicator(MPI_Comm owned, Adopt);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// What MPI calls this host.
std::string host_name();

/// The number of hosts the ranks run on; collective.
int count_hosts(const Communicator& communicator);

/// What rank `from` has, on every rank; collective.
std::string broadcast(std::string text, const Communicator& communicator, int from = 0);
std::uint64_t broadcast(std::uint64_t value, const Communicator& communicator, int from = 0);

/// The sum of all lower ranks' values, on each rank; collective.
std::uint64_t exclusive_sum(std::uint64_t value, const Communicator& communicator);

/// Every rank's text, by rank, on every rank; collective.
std::vector<std::string> gather_everywhere(const std::string& text,
                                           const Communicator& communicator);

/// The least (greatest) of the ranks' values, element by element; collective.
std::vector<std::uint64_t> minimum(std::vector<std::uint64_t> values,
                                   const Communicator& communicator);
std::vector<double> maximum(std::vector<double> values, const Communicator& communicator);

}  // namespace warpfold::mpi
