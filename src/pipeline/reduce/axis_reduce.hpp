#pragma once

#include <chrono>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// Reduces a dataset along the options' axes into a new file. Collective; throws the same Error on
/// every rank. The result counts on the root alone.
ReduceResult reduce_along_axes(DatasetView& view, const ReduceOptions& options, Run& run,
                               std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
