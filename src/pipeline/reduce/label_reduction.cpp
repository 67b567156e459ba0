#include "pipeline/reduce/label_reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/results/statistic_table.hpp"
#include "core/results/summarize.hpp"
#include "core/values/ordered_key.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/output/output_target.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/labels/label_pipeline.hpp"
#include "pipeline/reduce/reduce_outputs.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

std::vector<LabelSummary> summaries_of(const LabelTotals& totals, const LabelReduction& work) {
  require_few_labels(totals.labels().size());
  std::vector<LabelSummary> summaries;
  const DatasetLabels& labels = work.labels;
  for (std::uint64_t i = 0; i < totals.labels().size(); ++i) {
    const std::uint64_t bits = bits_of_key(totals.labels()[i], labels.type);
    summaries.push_back({value_of_bits(bits, labels.type),
                         labels.texts.empty() ? "" : labels.texts[bits],
                         summarize(totals.totals().accumulator(i), work.view.value_type(),
                                   work.options.statistics, work.options.summary),
                         {}});
  }
  return summaries;
}

/// The dimension of outputs that labels make, called as their dataset is.
io::OutputDimension dimension_of(const LabelTotals& totals, const DatasetLabels& labels) {
  io::OutputDimension dimension{labels.name, labels.type};
  const std::span<const std::uint64_t> keys =
      labels.outputs ? std::span<const std::uint64_t>(labels.keys) : totals.labels();
  if (labels.outputs) dimension.place = labels.outputs->place;
  for (const std::uint64_t key : keys) {
    const std::uint64_t bits = bits_of_key(key, labels.type);
    if (labels.texts.empty())
      dimension.numbers.push_back(bits);
    else
      dimension.texts.push_back(labels.texts[bits]);
  }
  return dimension;
}

/// The dimensions along which indices of outputs count.
std::vector<PlaceDimension> place_dimensions(const LabelReduction& work) {
  const std::vector<std::uint64_t>& shape = work.view.info().shape;
  const std::vector<std::uint64_t> strides = row_major_strides(shape);
  std::vector<PlaceDimension> dimensions;
  for (const int each : work.along) {
    const auto dimension = static_cast<std::size_t>(each);
    dimensions.push_back({strides[dimension], shape[dimension]});
  }
  return dimensions;
}

/// Writes totals, which the root has, into an output file. Collective.
void write_labels(const LabelTotals& totals, LabelReduction& work, ReduceResult& result, Run& run,
                  OutputFile& output_file, std::vector<StageTiming>& stages) {
  const mpi::Communicator& communicator = run.communicator;
  if (work.labels.outputs)
    result.output_shape = work.labels.outputs->shape;
  else
    result.output_shape = {mpi::broadcast(std::uint64_t{totals.labels().size()}, communicator)};
  io::DatasetText input;
  run_on_all(communicator, [&] {
    result.outputs =
        outputs_of(work.file.dataset, work.view.value_type(), work.options, work.places);
    if (!communicator.is_root()) return;
    input = io::read_dataset_text(work.view.info().file, work.view.info().name);
    work.file.added = dimension_of(totals, work.labels);
  });
  if (!work.along.empty()) describe_axes(work.along, work.view, result, work.file, run);
  add_outputs(work.file, work.view, work.options, result, input);
  work.file.text_attributes.emplace_back("warpfold_by", work.options.by);
  ArrayOutput staged =
      run.reserving.time(0, [&] { return ArrayOutput(work.file, output_file, run); });
  OutputTimers timers(&run.monitor.stages());
  AxisWriter writer(targets_of(result.outputs, work.options, work.places, staged),
                    result.output_shape, work.options.summary, place_dimensions(work));
  run_on_root(communicator, [&] {
    if (totals.labels().empty()) return;
    writer.write({0, totals.labels().size()}, totals.totals(), timers);
  });
  writer.failure().throw_on_all_ranks(communicator);
  note_results_of_nothing(writer, work.view.info().name, work.options, run);
  append(stages, timers.timings());
  finish_outputs(staged, result, run, stages);
}

/// Describes the output, whose shape has as many dimensions as `shape`. Collective.
void describe_file(LabelReduction& work, const std::vector<std::uint64_t>& shape, Run& run) {
  if (may_leave_out_elements(work.view, work.options) &&
      std::ranges::any_of(work.options.statistics, &StatisticRow::is_extremum, row_of))
    work.options.summary.empty = empty_value(work.view, work.options.empty, run.communicator);
  work.file = describe_output(work.options.output, work.view.info(), {}, run);
  work.file.inputs.merge(work.view.auxiliary_files);
  const std::vector<std::uint64_t>& of_elements = work.view.info().shape;
  std::vector<int> reduced = work.along;
  if (reduced.empty())
    for (std::size_t d = 0; d < of_elements.size(); ++d) reduced.push_back(static_cast<int>(d));
  work.places = place_coordinates(work.options, work.file, work.view, reduced,
                                  row_major_strides(extents_of(of_elements, reduced)), run);
  run_on_all(run.communicator, [&] {
    set_shape(work.file, shape, work.options.storage);
    require_few(outputs_of(work.file.dataset, work.view.value_type(), work.options, work.places),
                shape, work.options.output);
  });
  int axis = 0;
  for (io::CarriedDimension& dimension : work.file.dimensions)
    if (work.along.empty() ||
        (!dimension.selected.dropped && std::ranges::count(work.along, axis++) > 0))
      dimension.fate = io::CarriedDimension::Fate::merged;
  run_on_root(run.communicator, [&] {
    if (!work.file.path.empty()) io::require_writable_target(work.file);
  });
}

void require_labels_alone(const ReduceOptions& options) {
  const auto refuse = [&](const std::string& what) {
    throw usage_error(
        "`by` of labels along several axes does not support " + what, "",
        "Omit one of them, or take one label at a time with `mask` '" + options.by + " == 1'.");
  };
  if (!options.quantiles.empty()) refuse("quantiles");
  if (!options.weights.empty()) refuse("`weights`");
  if (!options.times.empty()) refuse("`times`");
  if (options.keep_dimensions) refuse("`keep_dimensions`");
}

}  // namespace

LabelReduction prepare_labels(const ByLabels& task, DatasetView view, ReduceOptions options,
                              Run& run) {
  DatasetLabels labels = open_labels(options.by, view, run);
  LabelReduction work{task, std::move(view), std::move(options), std::move(labels), {}, {}};
  if (task.makes_datasets) describe_file(work, {0}, run);
  return work;
}

LabelReduction prepare_labels_along(DatasetView view, ReduceOptions options, Run& run) {
  const std::vector<std::int64_t> axes = axis_numbers(options.axes, view.info(), run.communicator);
  std::vector<int> along;
  run_on_all(run.communicator, [&] {
    require_labels_alone(options);
    along = resolve_axes(axes, view.info().shape);
  });
  DatasetLabels labels = open_labels_along(options.by, along, view, run);
  LabelReduction work{{true}, std::move(view), std::move(options), std::move(labels), {}, along};
  describe_file(work, work.labels.outputs->shape, run);
  return work;
}

ReduceResult reduce(LabelReduction& work, Run& run, OutputFile& output_file,
                    std::chrono::steady_clock::time_point start) {
  ReduceResult result;
  std::vector<StageTiming> stages;
  const ReduceNeeds needs = needs_of(work.options.statistics, work.view.value_type());
  const LabelTotals totals = reduce_labels(work.view, work.labels, needs, run, stages);
  if (!work.task.makes_datasets)
    run_on_root(run.communicator, [&] { result.labels = summaries_of(totals, work); });
  else
    write_labels(totals, work, result, run, output_file, stages);
  run_on_all(run.communicator, [&] { run.backend.get(); });
  describe_view(work.view, result);
  result.report = report_of(run, stages, start);
  return result;
}

}  // namespace warpfold::pipeline
