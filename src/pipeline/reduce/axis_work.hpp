#pragma once

#include <chrono>
#include <utility>
#include <variant>

#include "pipeline/datasets/axis_labels.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/reduce/axis_reduction.hpp"
#include "pipeline/reduce/label_reduction.hpp"

namespace warpfold::pipeline {

/// A dataset that is to be reduced along the options' axes: all elements, those of each label along
/// the first axis, or those of each label of several axes.
using AxisWork = std::variant<AxisReduction, LabelReduction>;

/// Throws where the options don't fit the dataset. Collective; throws the same Error on every rank.
inline AxisWork prepare(const AlongAxes& task, DatasetView view, ReduceOptions options, Run& run) {
  if (!options.by.empty() && options.axes.size() > 1 && !is_part_of_time(options.by) &&
      has_several_dimensions(options.by, view, run.communicator))
    return prepare_labels_along(std::move(view), std::move(options), run);
  return prepare_rows(task, std::move(view), std::move(options), run);
}

/// Prepares a reduction by labels. Reduces quantiles, products and those by texts of several files
/// along all axes, the labels' first. Throws where the options don't fit the dataset. Collective;
/// throws the same Error on every rank.
inline AxisWork prepare(const ByLabels& task, DatasetView view, ReduceOptions options, Run& run) {
  if (options.quantiles.empty() && !task.factors &&
      !are_joined_texts(options.by, view, run.communicator))
    return prepare_labels(task, std::move(view), std::move(options), run);
  options.axes = axes_from_labels(options.by, view, run);
  return prepare_rows({task.factors, !task.makes_datasets}, std::move(view), std::move(options),
                      run);
}

/// Reduces into an output file. Collective; the result counts on the root alone. Throws the same
/// Error on every rank.
inline ReduceResult reduce(AxisWork& work, Run& run, OutputFile& output_file,
                           std::chrono::steady_clock::time_point start) {
  return std::visit([&](auto& each) { return reduce(each, run, output_file, start); }, work);
}

}  // namespace warpfold::pipeline
