#pragma once

#include <vector>

#include "core/results/accumulator.hpp"
#include "core/results/label_totals.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Reads a dataset's elements and their labels side by side, and reduces those of each label: on a
/// rank's GPU, where it has an engine for them, or on its cores. Returns the totals of all ranks,
/// of labels by ordered_key() that rise, on the root; adds what it took to `stages`. Collective;
/// throws the same Error on every rank, also where a file changed meanwhile.
LabelTotals reduce_labels(DatasetView& view, DatasetLabels& labels, const ReduceNeeds& needs,
                          Run& run, std::vector<StageTiming>& stages);

}  // namespace warpfold::pipeline
