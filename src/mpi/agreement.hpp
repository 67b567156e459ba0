#pragma once

#include <mpi.h>

#include <exception>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// Makes all ranks fail together: throws, on every rank, the Error of the lowest rank that passes
/// one (`failure` not null); returns where none does. Collective.
void settle(const std::exception_ptr& failure, const Communicator& communicator);

/// Lets ranks that work on their own notice another's failure, at no more than one small
/// non-blocking collective a round. Every rank must call round() equally often until it returns
/// true, which it does on all ranks in the same round.
class FailureWatch {
 public:
  explicit FailureWatch(const Communicator& communicator) : communicator_(communicator) {}
  ~FailureWatch();
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;

  /// Whether any rank had failed by its previous round.
  bool round(bool failed);

 private:
  bool previous_round_failed();

  const Communicator& communicator_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int mine_ = 0;
  int any_ = 0;
};

}  // namespace warpfold::mpi
