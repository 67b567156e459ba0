#pragma once

#include <string>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Groups the indices along a dimension of a view by windows of its times, as ReduceOptions::every
/// has it, in their order. Leaves out windows that the times don't cover where `complete` says so;
/// otherwise a note tells of them. Collective; throws the same Error on every rank, where an index
/// has no time, or times fall.
AxisGroups windows_along(const std::string& every, bool complete, int dimension, DatasetView& view,
                         Run& run);

}  // namespace warpfold::pipeline
