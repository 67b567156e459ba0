#pragma once

#include <vector>

#include "core/results/accumulator.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

struct ReduceOutcome {
  Accumulator whole;  ///< of all ranks, on the root
  std::vector<StageTiming> stages;
};

/// Reads and reduces a dataset's elements. Collective; throws the same Error on every rank, also
/// where the file changed meanwhile.
ReduceOutcome reduce_dataset(DatasetView& view, const ReduceNeeds& needs, Run& run);

}  // namespace warpfold::pipeline
