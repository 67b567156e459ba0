#pragma once

#include <utility>

#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Doubles between which all finite elements lie, as close to the least and the greatest as doubles
/// are; 0 and 1 where there are none. Reads the dataset once, and again where it has infinities.
/// Collective; the same on every rank. Throws the same Error on every rank.
std::pair<double, double> finite_range(DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
