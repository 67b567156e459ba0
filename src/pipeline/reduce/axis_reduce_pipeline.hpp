#pragma once

#include <vector>

#include "core/results/accumulator.hpp"
#include "core/values/factors.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Reduces the rows of a dataset that has elements and writes what comes of each output. Threads of
/// all ranks take groups of boxes; what they have of the same outputs is combined exactly, so that
/// results are the same bits however the work is shared. Elements that have factors are reduced on
/// the host. Returns this rank's timings. Collective; throws the same Error on every rank.
std::vector<StageTiming> reduce_rows(DatasetView& view, const AxisShape& array,
                                     const ReduceNeeds& needs, AxisWriter& writer, Run& run,
                                     const Factors& factors = {});

/// Writes what comes of outputs that have no rows. As reduce_rows().
void write_outputs_of_nothing(ElementType values, const ReduceNeeds& needs, AxisWriter& writer,
                              Run& run);

}  // namespace warpfold::pipeline
