#pragma once

#include <mpi.h>

#include <cstdint>

#include "core/results/accumulator.hpp"

namespace warpfold::mpi {

/// What a rank brings to a reduction or a scan, in one message.
struct Contribution {
  Accumulator contents;
  std::int64_t missing;  ///< ranks without contents
};

/// The MPI type of a Contribution and the operation that merges two.
class ContributionMerge {
 public:
  ContributionMerge();
  ~ContributionMerge();
  ContributionMerge(const ContributionMerge&) = delete;
  ContributionMerge& operator=(const ContributionMerge&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op operation() const { return operation_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

/// The process's own, made at its first use: an attribute of MPI_COMM_SELF, which MPI_Finalize
/// deletes before anything else (MPI 3.1, 8.7.1).
const ContributionMerge& contribution_merge();

}  // namespace warpfold::mpi
