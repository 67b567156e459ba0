#pragma once

#include <vector>

#include "core/results/quantile.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/stage_timing.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::pipeline {

/// Finds quantiles in passes over a view's elements, as OrderSearch does; of no elements none are,
/// and of any with NaN, propagated, all are NaN. Adds what it took to `stages`. Returns them on the
/// root. Collective; throws the same Error on every rank, also where the file changed meanwhile.
std::vector<Value> find_quantiles(DatasetView& view, const QuantileSpec& spec, Run& run,
                                  std::vector<StageTiming>& stages);

}  // namespace warpfold::pipeline
