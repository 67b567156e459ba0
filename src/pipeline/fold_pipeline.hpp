#pragma once

#include <cstdint>
#include <vector>

#include "core/backend.hpp"
#include "io/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/plan.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

struct FoldOutcome {
  Accumulator accumulator;  ///< of this rank's partition
  std::vector<StageTiming> stages;
};

/// The cut's slab or what the smallest buffer of all ranks holds, if that is less; collective.
std::uint64_t common_slab_elements(const SlabCut& cut, FoldEngine& engine,
                                   const io::DatasetInfo& info,
                                   const mpi::Communicator& communicator);

/// Reads and folds this rank's partition of the dataset. Collective; throws the same Error on every
/// rank, soon after the first one fails.
FoldOutcome fold_partition(io::Dataset& dataset, FoldEngine& engine, const SlabCut& cut,
                           const RunOptions& options, const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
