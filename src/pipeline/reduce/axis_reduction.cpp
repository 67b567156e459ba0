#include "pipeline/reduce/axis_reduction.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/results/statistic_table.hpp"
#include "io/dataset/dataset_text.hpp"
#include "pipeline/datasets/axis_labels.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/datasets/time_groups.hpp"
#include "pipeline/labels/label_pipeline.hpp"
#include "pipeline/quantiles/line_quantiles.hpp"
#include "pipeline/reduce/axis_reduce_pipeline.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/reduce/reduce_outputs.hpp"
#include "pipeline/regions/box_tiling.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Throws where an extremum of nothing is requested, as NumPy does.
void require_rows(const AxisShape& array, const ReduceOptions& options, bool reports_labels) {
  if (array.rows() > 0 || array.outputs() == 0) return;
  const std::string where = reports_labels ? " by labels" : " along these axes";
  const std::string why =
      reports_labels ? "the dataset holds no elements" : "they hold no elements";
  const auto found = std::ranges::find_if(
      options.statistics,
      [](const StatisticRow& row) { return row.is_extremum() || row.is_index(); }, row_of);
  if (found != options.statistics.end())
    throw Error("there is no " + std::string(name_of(*found)) + where, why,
                "Request others with `statistics`.");
  if (!options.quantiles.empty())
    throw Error("there are no quantiles" + where, why, "Omit quantiles.");
}

std::vector<std::uint64_t> stored_shape(const AxisShape& array, const ReduceOptions& options) {
  std::vector<std::uint64_t> shape = array.output_shape();
  if (!options.keep_dimensions) return shape;
  const std::vector<int> kept = array.kept();
  for (const int axis : array.along)
    if (!std::ranges::binary_search(kept, axis)) shape.insert(shape.begin() + axis, 1);
  return shape;
}

/// Says what becomes of the dimensions of the stored dataset, some of which the array may lack.
void mark_reduced(io::OutputSpec& file, const AxisShape& array, const ReduceOptions& options) {
  using Fate = io::CarriedDimension::Fate;
  int axis = 0;
  for (io::CarriedDimension& dimension : file.dimensions) {
    if (dimension.selected.dropped) continue;
    const bool grouped = array.groups && array.groups->dimension == axis;
    if (std::ranges::find(array.along, axis++) == array.along.end()) continue;
    if (grouped && file.added && !file.added->is_of_cells) {
      dimension.fate = Fate::merged;
      continue;
    }
    dimension.fate = grouped || options.keep_dimensions ? Fate::reduced_to_cells : Fate::reduced;
    if (!grouped) continue;
    dimension.cell_elements = options.every;
    if (options.every.window.empty() && !file.added) continue;
    if (array.groups->runs.empty()) {
      dimension.fate = Fate::kept;
      dimension.selected.count = 0;
    }
    for (const GroupRun& run : array.groups->runs) {
      if (dimension.cells.size() <= run.group)
        dimension.cells.push_back(run.indices);
      else
        dimension.cells[run.group].count = run.indices.end() - dimension.cells[run.group].first;
    }
  }
}

/// Returns whether reading all elements once is faster, since groups have many short runs.
bool are_scattered(const AxisReduction& work) {
  constexpr std::uint64_t most_outputs = std::uint64_t{1} << 20;
  constexpr std::uint64_t most_indices = std::uint64_t{1} << 27;
  constexpr std::uint64_t least_bytes = std::uint64_t{1} << 11;
  constexpr std::uint64_t most_readings = 8;
  constexpr std::size_t few_runs = 256;
  const std::vector<Statistic>& statistics = work.options.statistics;
  const AxisShape& array = work.array;
  if (!array.groups || array.groups->runs.size() < few_runs || work.factors ||
      array.outputs() > most_outputs ||
      array.shape[static_cast<std::size_t>(array.groups->dimension)] > most_indices ||
      std::ranges::any_of(statistics, &StatisticRow::is_index, row_of))
    return false;
  const io::DatasetInfo& info = work.view.info();
  const std::vector<GroupRun>& runs = array.groups->runs;
  const auto d = static_cast<std::size_t>(array.groups->dimension);
  std::uint64_t indices = 0;
  for (const GroupRun& run : runs) indices += run.indices.count;
  const std::uint64_t extent = array.shape[d];
  if (extent > most_readings * indices) return false;
  const std::uint64_t inner = product(std::span(info.shape).subspan(d + 1));
  if (indices * inner * size_of(info.format.type) < runs.size() * least_bytes) return true;
  // Each group would inflate the chunks that it has a part of.
  const bool are_in_order = work.options.by.empty();
  return !are_in_order && !info.filters.empty() &&
         most_readings * extent < runs.size() * granule_of(info)[d];
}

/// Reduces all elements with the outputs of all groups at hand. Collective.
std::vector<StageTiming> reduce_scattered(AxisReduction& work, AxisWriter& writer, Run& run) {
  std::vector<StageTiming> stages;
  std::optional<DatasetLabels> labels;
  run_on_all(run.communicator, [&] { labels = labels_of_groups(work.array); });
  const LabelTotals totals = reduce_labels(work.view, *labels, work.needs, run, stages);
  OutputTimers timers(&run.monitor.stages());
  run_on_root(run.communicator, [&] {
    writer.write({0, work.array.outputs()}, totals.totals(), timers);
  });
  writer.failure().throw_on_all_ranks(run.communicator);
  append(stages, timers.timings());
  return stages;
}

LineQuantiles line_quantiles(const ReduceOptions& options, const std::vector<AxisTarget>& targets) {
  LineQuantiles wanted{{quantiles_of(options),
                        gives_elements(options.quantile_method) ? options.summary.empty : Value{},
                        targets.front().type},
                       options.quantile_memory_bytes,
                       {}};
  for (const AxisTarget& target : targets) wanted.writers.push_back(target.writer);
  return wanted;
}

/// Fills the staged datasets of a file that has outputs. Collective.
std::vector<StageTiming> fill(ArrayOutput& staged, const std::vector<AxisOutput>& outputs,
                              AxisReduction& work, Run& run) {
  const ReduceOptions& options = work.options;
  DatasetView& view = work.view;
  std::vector<StageTiming> stages;
  std::vector<AxisTarget> targets = targets_of(outputs, options, work.places, staged);
  const auto first_quantile = targets.end() - static_cast<std::ptrdiff_t>(options.quantiles.size());
  const std::vector<AxisTarget> quantiles(first_quantile, targets.end());
  targets.erase(first_quantile, targets.end());
  if (!targets.empty()) {
    AxisWriter writer(std::move(targets), work.array.output_shape(), options.summary);
    if (work.array.rows() == 0)
      write_outputs_of_nothing(work.values, work.needs, writer, run);
    else if (are_scattered(work))
      stages = reduce_scattered(work, writer, run);
    else
      stages = reduce_rows(view, work.array, work.needs, writer, run,
                           work.factors ? work.factors->factors() : Factors{});
    if (!work.reports_labels) note_results_of_nothing(writer, view.info().name, options, run);
  }
  if (!quantiles.empty())
    add_up(stages,
           find_quantiles_of_lines(view, work.array, line_quantiles(options, quantiles), run));
  return stages;
}

/// Returns the groups along the first axis, if any are requested, and has outputs get the dimension
/// of their labels. Collective.
std::optional<AxisGroups> groups_along(std::span<const std::int64_t> axes,
                                       const ReduceOptions& options, DatasetView& view,
                                       io::OutputSpec& file, Run& run) {
  const io::DatasetInfo& info = view.info();
  if (!options.every.is_given() && options.by.empty()) return std::nullopt;
  int dimension = 0;
  run_on_all(run.communicator,
             [&] { dimension = resolve_axes(axes.first(1), info.shape).front(); });
  if (!options.every.window.empty())
    return windows_along(options.every.window, options.complete, dimension, view, run);
  if (options.by.empty())
    return groups_of_length(options.every, dimension,
                            info.shape[static_cast<std::size_t>(dimension)]);
  LabelledGroups labelled = group_by(options.by, dimension, view, run);
  file.added = std::move(labelled.dimension);
  return std::move(labelled.groups);
}

std::size_t place_of_groups(const AxisShape& array, const ReduceOptions& options) {
  const int dimension = array.groups->dimension;
  if (options.keep_dimensions) return static_cast<std::size_t>(dimension);
  const std::vector<int> kept = array.kept();
  return static_cast<std::size_t>(std::ranges::find(kept, dimension) - kept.begin());
}

/// Has floats be doubles, and statistics begin with a count, for numbers of labels.
void prepare_numbers(ElementType values, ReduceOptions& options) {
  if (is_floating(values)) options.output_type = ElementType::f64;
  options.statistics.insert(options.statistics.begin(), Statistic::count);
}

/// Has numbers of labels be what they are, also where an element is equal to a fill value: counts
/// say which labels have no elements.
void omit_fill_values(io::OutputSpec& file) {
  file.fill_value = {};
  for (io::OutputDataset& each : file.others) each.fill_value = {};
}

/// Returns the numbers of the label at index i of outputs; of texts the labels are their numbers.
LabelSummary label_at(std::size_t i, const ReduceResult& result, const ReduceOptions& options) {
  const ReportedCoordinate& labels = result.coordinates.front();
  const bool are_texts = labels.values.empty();
  LabelSummary label;
  label.label = are_texts ? int128{i} : labels.values[i];
  if (are_texts) label.text = labels.texts[i];
  const auto value_at = [&](std::size_t output) {
    return result.outputs[output].numbers.values[i];
  };
  const bool is_empty = value_at(0) == Value(int128{0});
  const std::size_t statistics = options.statistics.size();
  for (std::size_t k = 1; k < statistics; ++k) {
    const StatisticRow& row = row_of(options.statistics[k]);
    const bool is_element = row.is_extremum() || row.is_index();
    label.summary.emplace_back(options.statistics[k],
                               is_element && is_empty ? Value() : value_at(k));
  }
  for (std::size_t k = statistics; k < result.outputs.size(); ++k)
    label.quantiles.push_back(is_empty ? Value() : value_at(k));
  return label;
}

/// Puts the numbers of labels in place of outputs. For the root.
void report_labels(ReduceResult& result, const ReduceOptions& options) {
  for (std::size_t i = 0; i < product(result.output_shape); ++i)
    result.labels.push_back(label_at(i, result, options));
  result.outputs.clear();
  result.coordinates.clear();
  result.axes.clear();
  result.axis_names.clear();
  result.output_shape.clear();
}

}  // namespace

AxisReduction prepare_rows(const AlongAxes& task, DatasetView view, ReduceOptions options,
                           Run& run) {
  const bool has_elements =
      std::ranges::any_of(options.statistics, &StatisticRow::is_extremum, row_of) ||
      (!options.quantiles.empty() && gives_elements(options.quantile_method));
  if (may_leave_out_elements(view, options) && has_elements)
    options.summary.empty = empty_value(view, options.empty, run.communicator);
  if (task.reports_labels) prepare_numbers(view.value_type(), options);
  io::OutputSpec file = describe_output(options.output, view.info(), {}, run);
  const std::vector<std::int64_t> axes = axis_numbers(options.axes, view.info(), run.communicator);
  const ElementType values = type_of_products(task.factors, view.value_type());
  const ReduceNeeds needs = needs_of_products(options.statistics, task.factors, view.value_type());
  std::optional<AxisShape> array;
  ReduceResult result;
  std::optional<AxisGroups> groups = groups_along(axes, options, view, file, run);
  run_on_all(run.communicator, [&] {
    const std::vector<std::uint64_t>& shape = view.info().shape;
    array.emplace(shape, resolve_axes(axes, shape), std::move(groups));
  });
  std::vector<PlaceCoordinate> places = place_coordinates(
      options, file, view, array->along, row_major_strides(array->row_shape()), run);
  run_on_all(run.communicator, [&] {
    result.outputs = outputs_of(file.dataset, values, options, places);
    require_rows(*array, options, task.reports_labels);
    result.output_shape = stored_shape(*array, options);
    set_shape(file, result.output_shape, options.storage);
    if (task.reports_labels)
      require_few_labels(array->outputs());
    else
      require_few(result.outputs, result.output_shape, options.output);
  });
  if (file.added) file.added->place = place_of_groups(*array, options);
  std::optional<DatasetFactors> factors;
  if (task.factors) factors = read_factors(*task.factors, view, run);
  file.inputs.merge(view.auxiliary_files);
  return {
      std::move(view),   std::move(options), std::move(file),   std::move(*array),  values, needs,
      std::move(result), std::move(factors), std::move(places), task.reports_labels};
}

ReduceResult reduce(AxisReduction& work, Run& run, OutputFile& output_file,
                    std::chrono::steady_clock::time_point start) {
  DatasetView& view = work.view;
  const ReduceOptions& options = work.options;
  const AxisShape& array = work.array;
  io::OutputSpec& file = work.file;
  ReduceResult result = std::move(work.result);
  io::DatasetText input;
  run_on_root(run.communicator,
              [&] { input = io::read_dataset_text(view.info().file, view.info().name); });
  describe_axes(array.along, view, result, file, run);
  add_outputs(file, view, options, result, input);
  mark_reduced(file, array, options);
  if (work.reports_labels) omit_fill_values(file);
  if (options.every.is_given())
    file.text_attributes.emplace_back("warpfold_every", options.every.window.empty()
                                                            ? std::to_string(options.every.indices)
                                                            : options.every.window);
  if (!options.by.empty()) file.text_attributes.emplace_back("warpfold_by", options.by);
  if (!options.weights.empty())
    file.text_attributes.emplace_back("warpfold_weights", options.weights);
  if (!options.times.empty()) file.text_attributes.emplace_back("warpfold_times", options.times);
  ArrayOutput staged = run.reserving.time(0, [&] { return ArrayOutput(file, output_file, run); });
  std::vector<StageTiming> stages;
  while_unchanged(view, run.communicator, [&] {
    if (array.outputs() > 0) stages = fill(staged, result.outputs, work, run);
  });
  run_on_all(run.communicator, [&] { run.backend.get(); });
  finish_outputs(staged, result, run, stages);
  if (work.reports_labels) run_on_root(run.communicator, [&] { report_labels(result, options); });
  describe_view(view, result);
  result.report = report_of(run, stages, start);
  return result;
}

}  // namespace warpfold::pipeline
