#pragma once

#include <vector>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/accumulator.hpp"

namespace warpfold::pipeline {

struct FoldOutcome {
  Accumulator whole;  ///< of all ranks, on the root
  std::vector<StageTiming> stages;
};

/// Reads and folds a dataset's elements. Collective; throws the same Error on every rank, also
/// where the file changed meanwhile.
FoldOutcome fold_dataset(DatasetView& view, const FoldNeeds& needs, Run& run);

}  // namespace warpfold::pipeline
