#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/results/accumulator.hpp"
#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_factors.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/place_coordinates.hpp"
#include "pipeline/reduce/reduce_task.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// A dataset that is to be reduced along the options' axes.
struct AxisReduction {
  DatasetView view;
  ReduceOptions options;
  io::OutputSpec file;
  AxisShape array;
  ElementType values;  ///< the type of the results' elements
  ReduceNeeds needs;
  ReduceResult result;  ///< as far as it is known
  std::optional<DatasetFactors> factors;
  std::vector<PlaceCoordinate> places;
  bool reports_labels;  ///< with numbers of each, in place of outputs
};

/// Throws where the options don't fit the dataset. Collective; throws the same Error on every rank.
AxisReduction prepare_rows(const AlongAxes& task, DatasetView view, ReduceOptions options,
                           Run& run);

/// Reduces into an output file. Collective; the result counts on the root alone. Throws the same
/// Error on every rank.
ReduceResult reduce(AxisReduction& work, Run& run, OutputFile& output_file,
                    std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
