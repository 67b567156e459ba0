#pragma once

#include <cstdint>
#include <vector>

#include "core/results/quantile.hpp"
#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/stage_timing.hpp"

namespace warpfold::pipeline {

/// The quantiles to find for each output along axes, and their destination on this rank.
struct LineQuantiles {
  LineQuantileSpec spec;
  std::uint64_t memory_bytes;                  ///< memory for elements, per rank
  std::vector<io::ContiguousWriter*> writers;  ///< one per quantile
};

/// Finds quantiles of a dataset that has elements: on a rank's GPU, where it has an engine for
/// them, or on its cores. Each output is one rank's, whose threads gather the elements of as many
/// as fit its memory before they choose among them: so a chunk is read once for each rank, and each
/// such part of outputs, that has some of its elements. Returns this rank's timings. Collective;
/// throws the same Error on every rank.
std::vector<StageTiming> find_quantiles_of_lines(DatasetView& view, const AxisShape& array,
                                                 const LineQuantiles& wanted, Run& run);

}  // namespace warpfold::pipeline
