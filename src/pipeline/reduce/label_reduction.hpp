#pragma once

#include <chrono>

#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// A dataset whose elements are to be reduced by their labels.
struct LabelReduction {
  DatasetView view;
  ReduceOptions options;
  DatasetLabels labels;
  io::OutputSpec file;  ///< where it has a path
};

/// Throws where the options don't fit the dataset, or the output can't be written. Collective;
/// throws the same Error on every rank.
LabelReduction prepare_labels(DatasetView view, ReduceOptions options, Run& run);

/// Reduces to numbers, or into the output file where that has a path. Collective; the result counts
/// on the root alone. Throws the same Error on every rank.
ReduceResult reduce_by_labels(LabelReduction& work, Run& run, OutputFile& output_file,
                              std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
