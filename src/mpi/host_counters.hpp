#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// A counter for each rank of a host, in memory that these ranks share: threads of all of them may
/// change each at any time, without messages. A rank without such memory has its own counter alone.
class HostCounters {
 public:
  /// Makes counters of 0; collective, as is the destructor. Throws Error.
  explicit HostCounters(const Communicator& communicator);
  ~HostCounters();
  HostCounters(const HostCounters&) = delete;
  HostCounters& operator=(const HostCounters&) = delete;

  /// Returns the ranks that have counters here, rising.
  const std::vector<int>& ranks() const { return ranks_; }

  std::atomic_ref<std::uint64_t> at(std::size_t place) const {
    return std::atomic_ref(*counters_[place]);
  }

  /// Returns once all ranks of the host have come here; collective over these.
  void meet() const { barrier(host_); }

 private:
  bool share();

  Communicator host_;
  std::uint64_t alone_ = 0;  ///< counter of a rank without others
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<int> ranks_;
  std::vector<std::uint64_t*> counters_;
};

}  // namespace warpfold::mpi
