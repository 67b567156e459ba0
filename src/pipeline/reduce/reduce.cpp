#include "warpfold/reduce.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/base/text.hpp"
#include "core/results/summarize.hpp"
#include "core/values/ordered_key.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/output/output_target.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/axis_reduce_pipeline.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/reduce/dataset_pass.hpp"
#include "pipeline/reduce/label_pipeline.hpp"
#include "pipeline/reduce/quantiles.hpp"
#include "pipeline/reduce/statistic_text.hpp"
#include "pipeline/regions/axis_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Tells whether a statistic counts elements or places, and is no quantity like them.
bool is_count_or_index(Statistic statistic) {
  switch (statistic) {
    case Statistic::count:
    case Statistic::argmin:
    case Statistic::argmax:
    case Statistic::nan_count:
    case Statistic::inf_count:
      return true;
    default:
      return false;
  }
}

bool is_extremum(Statistic statistic) {
  return statistic == Statistic::min || statistic == Statistic::max;
}

bool needs_elements(Statistic statistic) {
  return is_extremum(statistic) || statistic == Statistic::argmin || statistic == Statistic::argmax;
}

/// Throws where an extremum of nothing is asked for, as NumPy does.
void require_rows(const AxisShape& array, const ReduceOptions& options) {
  if (array.rows() > 0 || array.outputs() == 0) return;
  const auto found =
      std::find_if(options.statistics.begin(), options.statistics.end(), needs_elements);
  if (found != options.statistics.end())
    throw Error("there is no " + std::string(name_of(*found)) + " along these axes",
                "they hold no elements", "Ask for others with `statistics`.");
}

/// Names one dataset `name`, or of several statistics one for each, after it.
std::vector<AxisOutput> outputs_of(const std::string& name, ElementType values,
                                   const ReduceOptions& options) {
  std::vector<AxisOutput> outputs;
  for (const Statistic statistic : options.statistics) {
    std::string dataset = name;
    if (options.statistics.size() > 1) dataset.append("_").append(name_of(statistic));
    outputs.push_back(
        {statistic, std::move(dataset), axis_output_type(statistic, values, options.output_type)});
  }
  return outputs;
}

std::string axes_text(const AxisShape& array) {
  std::vector<std::string> axes;
  for (const int axis : array.along) axes.push_back(std::to_string(axis));
  return joined(axes, ",");
}

/// Returns the axes' names where each has one, otherwise none. For one rank.
std::vector<std::string> axis_names(const AxisShape& array, const io::DatasetInfo& info) {
  const std::vector<std::string> all = dimension_names(info);
  std::vector<std::string> names;
  for (const int axis : array.along) names.push_back(all[static_cast<std::size_t>(axis)]);
  return std::ranges::count(names, "") == 0 ? names : std::vector<std::string>{};
}

/// Makes the array that is reduced of a dataset of that shape, in groups along the first axis if
/// `every` is not 0.
AxisShape array_of(const std::vector<std::uint64_t>& shape, std::span<const std::int64_t> axes,
                   std::uint64_t every) {
  std::optional<AxisGroups> groups;
  if (every > 0) {
    const int dimension = resolve_axes(axes.first(1), shape).front();
    groups = groups_of_length(every, dimension, shape[static_cast<std::size_t>(dimension)]);
  }
  return {shape, resolve_axes(axes, shape), std::move(groups)};
}

/// Tells the shape of an output as it is stored.
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
    dimension.fate = grouped || options.keep_dimensions ? Fate::reduced_to_cells : Fate::reduced;
    if (grouped) dimension.cell_elements = options.every;
  }
}

/// Names the attributes that extrema, which are single elements, don't have of their input.
std::vector<std::string> dropped_of_extrema(const DatasetView& view, const ReduceOptions& options) {
  std::vector<std::string> names = packing_attributes(view);
  names.emplace_back("actual_range");
  if (!options.view.raw || options.summary.empty != Value{}) names.emplace_back("_FillValue");
  return names;
}

bool may_leave_out_elements(const DatasetView& view, const ReduceOptions& options) {
  return !view.decoding.selects_all() ||
         (options.summary.nan == NanPolicy::skip && is_floating(view.value_type()));
}

/// Returns what stands for a missing value of an output, if that can be: for extrema `empty`.
Value fill_value_of(const AxisOutput& output, bool may_be_missing, const Value& empty) {
  if (is_extremum(output.statistic)) return empty;
  const bool is_of_none_nan = output.statistic == Statistic::mean ||
                              output.statistic == Statistic::var ||
                              output.statistic == Statistic::std;
  if (!may_be_missing || !is_of_none_nan || !is_floating(output.type)) return {};
  return std::numeric_limits<double>::quiet_NaN();
}

/// Adds the outputs to a file that describe_output() made.
void add_outputs(io::OutputSpec& file, const DatasetView& view, const ReduceOptions& options,
                 const ReduceResult& result, const io::DatasetText& input) {
  const bool may_be_missing = may_leave_out_elements(view, options);
  const std::vector<AxisOutput>& outputs = result.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    io::OutputDataset& dataset = i == 0 ? file : file.others.emplace_back();
    dataset.dataset = outputs[i].dataset;
    dataset.shape = result.output_shape;
    dataset.format = {outputs[i].type, native_byte_order};
    dataset.carries_attributes = !is_count_or_index(outputs[i].statistic);
    dataset.dropped_attributes = is_extremum(outputs[i].statistic)
                                     ? dropped_of_extrema(view, options)
                                     : element_attributes(view);
    dataset.fill_value = fill_value_of(outputs[i], may_be_missing, options.summary.empty);
    io::DatasetText said = input;
    if (std::ranges::count(dataset.dropped_attributes, "units") > 0) said.units.reset();
    dataset.changed_text = text_of(outputs[i].statistic, said, result.axis_names);
  }
}

std::vector<AxisTarget> targets_of(const std::vector<AxisOutput>& outputs, StagedDataset& staged) {
  std::vector<AxisTarget> targets;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    targets.push_back({outputs[i].statistic, outputs[i].type, staged.writer(i)});
  return targets;
}

/// Fills the staged datasets of a file that has outputs. Collective.
std::vector<StageTiming> fill(StagedDataset& staged, const std::vector<AxisOutput>& outputs,
                              DatasetView& view, const AxisShape& array,
                              const ReduceOptions& options, Run& run) {
  const ReduceNeeds needs = needs_of(options.statistics, view.value_type());
  AxisWriter writer(targets_of(outputs, staged), array.output_shape(), options.summary);
  if (array.rows() > 0) return reduce_rows(view, array, needs, writer, run);
  write_outputs_of_nothing(view.value_type(), needs, writer, run);
  return {};
}

void describe_view(const DatasetView& view, ReduceResult& result) {
  result.format = view.info().format;
  result.value_type = view.value_type();
  result.applied = view.applied;
  result.shape = view.info().shape;
}

/// A dataset that is to be reduced along the options' axes.
struct AxisReduction {
  DatasetView view;
  ReduceOptions options;
  io::OutputSpec file;
  AxisShape array;
  ReduceResult result;  ///< as far as it is known
};

/// Throws where the options don't fit the dataset. Collective.
AxisReduction prepare_axes(DatasetView view, ReduceOptions options, Run& run) {
  if (may_leave_out_elements(view, options) && std::ranges::any_of(options.statistics, is_extremum))
    options.summary.empty = empty_value(view, options.empty, run.communicator);
  io::OutputSpec file = describe_output(options.output, view.info(), {});
  file.inputs.merge(view.mask_files());
  const std::vector<std::int64_t> axes = axis_numbers(options.axes, view.info(), run.communicator);
  std::optional<AxisShape> array;
  ReduceResult result;
  run_on_all(run.communicator, [&] {
    array.emplace(array_of(view.info().shape, axes, options.every));
    result.outputs = outputs_of(file.dataset, view.value_type(), options);
    require_rows(*array, options);
    if (run.communicator.is_root()) result.axis_names = axis_names(*array, view.info());
  });
  result.output_shape = stored_shape(*array, options);
  return {std::move(view), std::move(options), std::move(file), std::move(*array),
          std::move(result)};
}

/// Reduces into an output file. Collective; the result counts on the root alone.
ReduceResult reduce_along_axes(AxisReduction& work, Run& run, OutputFile& output_file,
                               std::chrono::steady_clock::time_point start) {
  DatasetView& view = work.view;
  const ReduceOptions& options = work.options;
  const AxisShape& array = work.array;
  io::OutputSpec& file = work.file;
  ReduceResult result = std::move(work.result);
  io::DatasetText input;
  run_on_root(run.communicator,
              [&] { input = io::read_dataset_text(view.info().file, view.info().name); });
  add_outputs(file, view, options, result, input);
  mark_reduced(file, array, options);
  file.text_attributes.emplace_back("warpfold_axis", axes_text(array));
  if (!result.axis_names.empty())
    file.text_attributes.emplace_back("warpfold_axis_names", joined(result.axis_names, ","));
  if (options.every > 0)
    file.text_attributes.emplace_back("warpfold_every", std::to_string(options.every));
  StagedDataset staged = run.reserving.time(0, [&] { return StagedDataset(file, output_file); });
  std::vector<StageTiming> stages;
  while_unchanged(view, run.communicator, [&] {
    if (array.outputs() > 0) stages = fill(staged, result.outputs, view, array, options, run);
  });
  run_on_all(run.communicator, [&] { run.backend.get(); });
  staged.finish();

  describe_view(view, result);
  result.axes = array.along;
  result.report = report_of(run, stages, start);
  return result;
}

/// A dataset whose elements are to be reduced by their labels.
struct LabelReduction {
  DatasetView view;
  ReduceOptions options;
  DatasetLabels labels;
  io::OutputSpec file;  ///< where it has a path
};

/// Throws where the options don't fit the dataset. Collective.
LabelReduction prepare_labels(DatasetView view, ReduceOptions options, Run& run) {
  DatasetLabels labels = open_labels(options.by, view, run);
  LabelReduction work{std::move(view), std::move(options), std::move(labels), {}};
  if (work.options.output.path.empty()) return work;
  if (std::ranges::any_of(work.options.statistics, is_extremum))
    work.options.summary.empty = empty_value(work.view, work.options.empty, run.communicator);
  work.file = describe_output(work.options.output, work.view.info(), {});
  work.file.inputs.merge(work.view.mask_files());
  work.file.inputs.merge(io::input_files(work.labels.dataset.info()));
  for (io::CarriedDimension& dimension : work.file.dimensions)
    dimension.fate = io::CarriedDimension::Fate::merged;
  run_on_root(run.communicator, [&] { io::require_writable_target(work.file); });
  return work;
}

std::vector<LabelSummary> summaries_of(const LabelTotals& totals, const LabelReduction& work) {
  if (totals.labels().size() > max_told_labels)
    throw Error("there are " + std::to_string(totals.labels().size()) + " labels",
                "at most " + std::to_string(max_told_labels) + " are told without an output",
                "Name one with `output`.");
  std::vector<LabelSummary> summaries;
  for (std::uint64_t i = 0; i < totals.labels().size(); ++i)
    summaries.push_back(
        {value_of_bits(bits_of_key(totals.labels()[i], work.labels.type()), work.labels.type()),
         summarize(totals.totals().accumulator(i), work.view.value_type(), work.options.statistics,
                   work.options.summary)});
  return summaries;
}

/// The dimension of outputs that labels make, called as their dataset is.
io::OutputDimension dimension_of(const LabelTotals& totals, const DatasetLabels& labels) {
  const std::string& name = labels.dataset.info().name;
  io::OutputDimension dimension{name.substr(name.rfind('/') + 1), labels.type(), {}};
  visit_element_type(labels.type(), [&](auto label) {
    if constexpr (std::is_integral_v<decltype(label)>)
      for (const std::uint64_t key : totals.labels()) {
        label = element_of_bits<decltype(label)>(bits_of_key(key, labels.type()));
        const auto bytes = std::as_bytes(std::span(&label, 1));
        dimension.values.insert(dimension.values.end(), bytes.begin(), bytes.end());
      }
  });
  return dimension;
}

/// Writes totals, which the root has, into an output file. Collective.
void write_labels(const LabelTotals& totals, LabelReduction& work, ReduceResult& result, Run& run,
                  OutputFile& output_file, std::vector<StageTiming>& stages) {
  const mpi::Communicator& communicator = run.communicator;
  result.output_shape = {mpi::broadcast(std::uint64_t{totals.labels().size()}, communicator)};
  io::DatasetText input;
  run_on_all(communicator, [&] {
    result.outputs = outputs_of(work.file.dataset, work.view.value_type(), work.options);
    if (!communicator.is_root()) return;
    input = io::read_dataset_text(work.view.info().file, work.view.info().name);
    work.file.added = dimension_of(totals, work.labels);
  });
  add_outputs(work.file, work.view, work.options, result, input);
  work.file.text_attributes.emplace_back("warpfold_by", work.options.by);
  StagedDataset staged =
      run.reserving.time(0, [&] { return StagedDataset(work.file, output_file); });
  StageTimer writing(run.monitor.stages(), stage::write);
  AxisWriter writer(targets_of(result.outputs, staged), result.output_shape, work.options.summary);
  writing.time(0, [&] {
    run_on_root(communicator, [&] {
      if (totals.labels().empty()) return;
      writer.write({0, totals.labels().size()}, totals.totals());
      writer.sync();
    });
  });
  writer.failure().throw_on_all_ranks(communicator);
  staged.finish();
  append(stages, {writing.timing()});
}

/// Reduces to numbers, or into the output file where that has a path. Collective; the result counts
/// on the root alone.
ReduceResult reduce_by_labels(LabelReduction& work, Run& run, OutputFile& output_file,
                              std::chrono::steady_clock::time_point start) {
  ReduceResult result;
  std::vector<StageTiming> stages;
  const ReduceNeeds needs = needs_of(work.options.statistics, work.view.value_type());
  const LabelTotals totals = reduce_labels(work.view, work.labels, needs, run, stages);
  if (work.options.output.path.empty())
    run_on_root(run.communicator, [&] { result.labels = summaries_of(totals, work); });
  else
    write_labels(totals, work, result, run, output_file, stages);
  run_on_all(run.communicator, [&] { run.backend.get(); });
  describe_view(work.view, result);
  result.report = report_of(run, stages, start);
  return result;
}

}  // namespace
}  // namespace warpfold::pipeline

namespace warpfold {
namespace {

void check(const ReduceOptions& options) {
  if (!options.axes.empty() && !options.quantiles.empty())
    throw usage_error("quantiles are asked for along axes", "they are found of all elements alone",
                      "Leave out `axes`.");
  if (!options.by.empty() && !(options.axes.empty() && options.quantiles.empty()))
    throw usage_error("`by` is given along with `axes` or quantiles",
                      "labels tell the elements of the whole dataset apart",
                      "Leave out one of them.");
  constexpr std::size_t most = 1024;
  if (options.quantiles.size() > most)
    throw usage_error(std::to_string(options.quantiles.size()) + " quantiles are asked for", "",
                      "Ask for at most " + std::to_string(most) + ".");
  for (const double fraction : options.quantiles)
    if (!(fraction >= 0 && fraction <= 1))
      throw usage_error("a quantile is not between 0 and 1", "", "Give its fraction.");
}

/// Tells whether results are numbers, not datasets.
bool are_told(const ReduceOptions& options) {
  return options.axes.empty() && (options.by.empty() || options.output.path.empty());
}

ReduceResult reduce_view(pipeline::DatasetView& view, const ReduceOptions& options,
                         pipeline::Run& run, std::chrono::steady_clock::time_point start) {
  ReduceResult result;
  std::vector<StageTiming> stages;
  if (!options.statistics.empty() || options.quantiles.empty()) {
    const ReduceNeeds needs = needs_of(options.statistics, view.value_type());
    pipeline::ReduceOutcome reduced = pipeline::reduce_dataset(view, needs, run);
    if (run.communicator.is_root())
      result.summary =
          summarize(reduced.whole, view.value_type(), options.statistics, options.summary);
    stages = std::move(reduced.stages);
  }
  if (!options.quantiles.empty())
    result.quantiles = pipeline::find_quantiles(
        view, {options.quantiles, options.quantile_method, options.summary.nan}, run, stages);
  pipeline::describe_view(view, result);
  result.report = pipeline::report_of(run, stages, start);
  return result;
}

}  // namespace

ReduceResult reduce(MPI_Comm parent, const std::string& file, const std::string& name,
                    const ReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  pipeline::Run run(parent, options.run);
  pipeline::DatasetView view = pipeline::open_view(file, name, options.view, run);
  if (options.axes.empty() && options.by.empty()) return reduce_view(view, options, run, start);
  pipeline::OutputFile output(run.communicator);
  ReduceResult result;
  if (options.by.empty()) {
    pipeline::AxisReduction work = pipeline::prepare_axes(std::move(view), options, run);
    result = pipeline::reduce_along_axes(work, run, output, start);
  } else {
    pipeline::LabelReduction work = pipeline::prepare_labels(std::move(view), options, run);
    result = pipeline::reduce_by_labels(work, run, output, start);
  }
  if (!are_told(options)) output.commit();
  result.report.seconds = pipeline::seconds_since(start);
  return result;
}

std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm parent, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options) {
  check(options);
  pipeline::Run run(parent, options.run);
  pipeline::OutputFile output(run.communicator);
  const auto prepare_labels = [&](pipeline::DatasetView view) {
    return pipeline::prepare_labels(std::move(view), options, run);
  };
  const auto reduce_by_labels = [&](pipeline::LabelReduction& work) {
    return pipeline::reduce_by_labels(work, run, output, std::chrono::steady_clock::now());
  };
  if (are_told(options))
    return pipeline::for_each_dataset<ReduceResult>(
        file, datasets, options.view, run, [&](pipeline::DatasetView& view) {
          if (options.by.empty())
            return reduce_view(view, options, run, std::chrono::steady_clock::now());
          pipeline::LabelReduction work = prepare_labels(std::move(view));
          return reduce_by_labels(work);
        });
  if (!options.by.empty()) {
    auto outcomes = pipeline::for_each_output<ReduceResult>(
        file, datasets, options.view, options.output, run, prepare_labels, reduce_by_labels);
    output.commit();
    return outcomes;
  }
  auto outcomes = pipeline::for_each_output<ReduceResult>(
      file, datasets, options.view, options.output, run,
      [&](pipeline::DatasetView view) {
        return pipeline::prepare_axes(std::move(view), options, run);
      },
      [&](pipeline::AxisReduction& work) {
        return pipeline::reduce_along_axes(work, run, output, std::chrono::steady_clock::now());
      });
  output.commit();
  return outcomes;
}

}  // namespace warpfold
