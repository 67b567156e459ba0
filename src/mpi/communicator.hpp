#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace warpfold::mpi {

/// Throws Error with MPI's own text unless `code` is MPI_SUCCESS; `call` names the function.
void check(int code, const char* call);

/// Tags of messages, by what sends them.
namespace tag {
inline constexpr int head = 1;
inline constexpr int bytes = 2;
inline constexpr int doubling = 3;
inline constexpr int question = 4;
inline constexpr int answer = 5;
}  // namespace tag

/// The way in which an exclusive scan goes from rank to rank.
enum class ScanWay : std::uint8_t {
  exscan,   ///< MPI_Exscan
  doubling  ///< DoublingScan
};

/// A communicator is a duplicate of a caller's, so that its messages meet no one else's. Ranks
/// start at 0, the root. That of a process alone is there without MPI: what is collective over it
/// does nothing but return.
class Communicator {
 public:
  /// Makes a duplicate of `parent`; collective over it. MPI_COMM_SELF is this process alone. Throws
  /// Error for others where MPI isn't running.
  explicit Communicator(MPI_Comm parent);
  /// Gives it back; warns on stderr where MPI is over.
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator& operator=(Communicator&&) = delete;

  MPI_Comm get() const { return communicator_; }

  /// Returns whether it is this process without MPI.
  bool is_alone() const { return communicator_ == MPI_COMM_SELF; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  bool is_last() const { return rank_ == size_ - 1; }

  /// The same on all ranks; collective when first requested. Throws Error, on all ranks, as
  /// ranks_of_doubling() does.
  ScanWay scan_way() const;

  /// Makes one of the ranks that share this rank's memory, in rank order; collective.
  Communicator on_this_host() const;

 private:
  struct Adopt {};
  Communicator(MPI_Comm owned, Adopt);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  mutable std::optional<ScanWay> scan_way_;  ///< once requested
};

/// Names this host as the system does.
std::string host_name();

/// Returns once all ranks have come here; collective.
void barrier(const Communicator& communicator);

/// Counts the hosts that the ranks run on; collective.
int count_hosts(const Communicator& communicator);

/// Returns on every rank what rank `from` has; collective.
std::string broadcast(std::string text, const Communicator& communicator, int from = 0);
std::uint64_t broadcast(std::uint64_t value, const Communicator& communicator, int from = 0);

/// Returns the root's values, however many, on every rank; collective.
template <class T>
std::vector<T> broadcast(const std::vector<T>& values, const Communicator& communicator) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  const std::string sent = broadcast(std::string(bytes, values.size() * sizeof(T)), communicator);
  std::vector<T> received(sent.size() / sizeof(T));
  if (!sent.empty()) std::memcpy(received.data(), sent.data(), sent.size());
  return received;
}

/// Returns every rank's text, by rank, on every rank; collective.
std::vector<std::string> gather_everywhere(const std::string& text,
                                           const Communicator& communicator);

/// Returns the minimum (maximum) of the ranks' values, element by element; collective.
std::vector<std::uint64_t> minimum(std::vector<std::uint64_t> values,
                                   const Communicator& communicator);
std::vector<double> maximum(std::vector<double> values, const Communicator& communicator);

/// Returns the bits that are set in any rank's values, element by element; collective.
std::vector<std::uint64_t> bitwise_or(std::vector<std::uint64_t> values,
                                      const Communicator& communicator);

/// Return the sum of the ranks' values, element by element; collective.
std::vector<double> sum(std::vector<double> values, const Communicator& communicator);
std::vector<std::int64_t> sum_everywhere(std::vector<std::int64_t> words,
                                         const Communicator& communicator);

}  // namespace warpfold::mpi
