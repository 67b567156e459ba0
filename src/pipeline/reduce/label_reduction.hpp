#pragma once

#include <chrono>
#include <vector>

#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/place_coordinates.hpp"
#include "pipeline/reduce/reduce_task.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// A dataset whose elements are to be reduced by their labels.
struct LabelReduction {
  ByLabels task;
  DatasetView view;
  ReduceOptions options;
  DatasetLabels labels;
  io::OutputSpec file;          ///< if results are datasets
  std::vector<int> along = {};  ///< axes, if labels are those of several
  std::vector<PlaceCoordinate> places = {};
};

/// Throws where the options don't fit the dataset, or the output can't be written. Collective;
/// throws the same Error on every rank.
LabelReduction prepare_labels(const ByLabels& task, DatasetView view, ReduceOptions options,
                              Run& run);

/// Prepares labels that have several of the axes along which elements are reduced. Collective;
/// throws the same Error on every rank.
LabelReduction prepare_labels_along(DatasetView view, ReduceOptions options, Run& run);

/// Reduces to numbers, or into the output file where that has a path. Collective; the result counts
/// on the root alone. Throws the same Error on every rank.
ReduceResult reduce(LabelReduction& work, Run& run, OutputFile& output_file,
                    std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
