#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// Makes all ranks fail together: throws, on every rank, the Error of the lowest rank that passes
/// one (`failure` not null); returns where none does. Collective.
void throw_on_all_ranks(const std::exception_ptr& failure, const Communicator& communicator);

/// Lets ranks that work on their own notice another's failure, at no more than one small
/// non-blocking collective a round. Every rank must call round() equally often until it returns
/// true, which it does on all ranks in the same round.
class FailureWatch {
 public:
  explicit FailureWatch(const Communicator& communicator) : communicator_(communicator) {}
  ~FailureWatch();
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;

  /// Returns whether any rank had failed by its previous round.
  bool round(bool failed);

 private:
  bool previous_round_failed();

  const Communicator& communicator_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int mine_ = 0;
  int any_ = 0;
};

enum class WorkState : std::uint8_t { done, working, failed };

/// A rank's work, or that of all, has come so far: failed where one has, else working where one is.
struct WorkProgress {
  WorkState state = WorkState::working;
  std::uint64_t done = 0;  ///< bytes
};

/// Lets ranks whose threads work on their own learn how far all of them are, without waiting.
class WorkWatch {
 public:
  explicit WorkWatch(const Communicator& communicator) : communicator_(communicator) {}
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  /// Tells this rank's progress, and returns that of the whole where an exchange came to its end.
  /// Every rank must call this until it has returned `done` or `failed`, which it does on all.
  std::optional<WorkProgress> exchange(WorkProgress mine);

 private:
  /// The counts of one rank or the sums of all: those that failed, those at work, bytes done.
  using Counts = std::array<std::uint64_t, 3>;

  const Communicator& communicator_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  Counts mine_{};
  Counts whole_{};
};

}  // namespace warpfold::mpi
