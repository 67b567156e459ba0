#pragma once

#include <vector>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/regions/axis_cut.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/accumulator.hpp"

namespace warpfold::pipeline {

/// Folds the rows of a dataset that has elements and writes what comes of each output. Threads of
/// all ranks take groups of boxes; what they have of the same outputs is combined exactly, so that
/// results are the same bits however the work is shared. Returns this rank's timings. Collective;
/// throws the same Error on every rank.
std::vector<StageTiming> fold_rows(DatasetView& view, const AxisShape& array,
                                   const FoldNeeds& needs, AxisWriter& writer, Run& run);

/// Writes what comes of outputs that have no rows. As fold_rows().
void write_outputs_of_nothing(ElementType values, const FoldNeeds& needs, AxisWriter& writer,
                              Run& run);

}  // namespace warpfold::pipeline
