#include "warpfold/reduce.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "pipeline/datasets/axis_labels.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/axis_reduction.hpp"
#include "pipeline/reduce/label_reduction.hpp"
#include "pipeline/reduce/number_reduction.hpp"
#include "pipeline/reduce/reduce_task.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold {
namespace pipeline {

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

}  // namespace pipeline

ReduceResult reduce(MPI_Comm parent, const std::string& file, const std::string& name,
                    const ReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const pipeline::ReduceTask any_task = pipeline::task_of(options);
  pipeline::Run run(parent, options.run, pipeline::line_quantiles_of(options));
  pipeline::OutputFile output(run.communicator);
  return std::visit(
      [&](const auto& task) {
        auto work = prepare(task, pipeline::open_view(file, name, options.view, run), options, run);
        ReduceResult result = reduce(work, run, output, start);
        if (task.makes_datasets && !options.output.path.empty())
          output.commit(result.report, run.monitor.stages());
        result.report.seconds = pipeline::seconds_since(start);
        return result;
      },
      any_task);
}

std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm parent, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options) {
  const pipeline::ReduceTask any_task = pipeline::task_of(options);
  pipeline::Run run(parent, options.run, pipeline::line_quantiles_of(options));
  pipeline::OutputFile output(run.communicator);
  return std::visit(
      [&](const auto& task) {
        const auto prepare_one = [&](pipeline::DatasetView view) {
          return prepare(task, std::move(view), options, run);
        };
        const auto reduce_one = [&](auto& work) {
          return reduce(work, run, output, std::chrono::steady_clock::now());
        };
        if (!task.makes_datasets)
          return pipeline::for_each_dataset<ReduceResult>(
              file, datasets, options.view, run, [&](pipeline::DatasetView& view) {
                auto work = prepare_one(std::move(view));
                return reduce_one(work);
              });
        auto outcomes = pipeline::for_each_output<ReduceResult>(
            file, datasets, options.view, options.output, run, prepare_one, reduce_one);
        if (!options.output.path.empty()) output.commit(outcomes, run.monitor.stages());
        return outcomes;
      },
      any_task);
}

}  // namespace warpfold
