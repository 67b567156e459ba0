#pragma once

#include <span>
#include <vector>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/stage_timing.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// Finds the options' quantiles of a dataset that has elements, for each output along axes, and
/// writes each to its target, on the host. Each output is one rank's, whose threads gather the
/// elements of as many as fit its memory before they choose among them: so a chunk is read once for
/// each rank, and each such part of outputs, that has some of its elements. Returns this rank's
/// timings. Collective; throws the same Error on every rank.
std::vector<StageTiming> find_quantiles_of_lines(DatasetView& view, const AxisShape& array,
                                                 const ReduceOptions& options,
                                                 std::span<const AxisTarget> targets, Run& run);

}  // namespace warpfold::pipeline
