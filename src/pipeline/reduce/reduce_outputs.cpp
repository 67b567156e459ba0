#include "pipeline/reduce/reduce_outputs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/results/quantile.hpp"
#include "core/results/statistic_table.hpp"
#include "core/values/value_filters.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/meaning/coordinate.hpp"
#include "pipeline/meaning/matching.hpp"
#include "pipeline/meaning/statistic_text.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Names the attributes that extrema, which are single elements, don't have of their input.
std::vector<std::string> dropped_of_extrema(const DatasetView& view, const ReduceOptions& options) {
  std::vector<std::string> names = packing_attributes(view);
  names.emplace_back("actual_range");
  if (!options.view.raw || options.summary.empty != Value{}) names.emplace_back("_FillValue");
  return names;
}

/// Returns what takes the place of 0 in sums of no elements where that was requested; throws a
/// usage Error for what their type can't hold.
Value chosen_zero(const AxisOutput& output, const ReduceOptions& options) {
  const bool may_be_chosen = row_of(output.statistic).of_nothing == OfNothing::zero_or_chosen;
  if (!may_be_chosen || options.empty == "auto") return {};
  return parse_fill_value(options.empty, output.type);
}

/// Returns what takes the place of results of fewer elements than are wanted; nothing for counts.
Value missing_value(const AxisOutput& output, const ReduceOptions& options) {
  const StatisticRow& row = row_of(output.statistic);
  if (options.min_count == 0) return {};
  if (row.of_nothing == OfNothing::fill_value) return options.summary.empty;
  if (row.of_nothing == OfNothing::minus_one) return int128{-1};
  if (row.unit == ResultUnit::none) return {};
  if (row.of_nothing == OfNothing::zero_or_chosen && options.empty != "auto")
    return parse_fill_value(options.empty, output.type);
  return value_for_nothing(output.type);
}

Value fill_value_of(const AxisOutput& output, bool may_be_missing, const ReduceOptions& options) {
  const bool is_place = row_of(output.statistic).is_index();
  if (!output.dimension.empty()) return may_be_missing ? value_for_nothing(output.type) : Value{};
  if (const Value missing = missing_value(output, options); missing != Value{} && !is_place)
    return missing;
  switch (row_of(output.statistic).of_nothing) {
    case OfNothing::fill_value:
      return options.summary.empty;
    case OfNothing::zero_or_chosen:
      return chosen_zero(output, options);
    case OfNothing::nan:
      if (!may_be_missing || !is_floating(output.type)) return {};
      return std::numeric_limits<double>::quiet_NaN();
    case OfNothing::zero:
    case OfNothing::minus_one:
      break;
  }
  return {};
}

/// Returns what places that are coordinates are: "time of the maximum of temperature".
ChangedText place_text_of(const AxisOutput& output, const io::DatasetText& input) {
  const std::string prefix = row_of(output.statistic).prefix;
  ChangedText text;
  if (input.long_name)
    text.emplace_back("long_name",
                      output.dimension + prefix.substr(prefix.find(' ')) + *input.long_name);
  for (const auto& [name, of] :
       {std::pair{"units", &output.numbers.units}, std::pair{"calendar", &output.numbers.calendar}})
    if (!of->empty()) text.emplace_back(name, *of);
  return text;
}

/// Says what the numbers of an output mean. `input` is what is true of it of what its input says.
void describe_numbers(const io::OutputDataset& output, const io::DatasetText& input,
                      ReportedNumbers& numbers) {
  std::optional<std::string> units;
  if (output.carries_attributes) units = input.units;
  for (const auto& [name, text] : output.changed_text)
    if (name == "units") units = text;
  numbers.units = units.value_or("");
  if (output.carries_attributes) numbers.calendar = input.calendar.value_or("");
}

void add_dates(ReportedNumbers& numbers) {
  io::DatasetText text{numbers.units, {}, {}};
  if (!numbers.calendar.empty()) text.calendar = numbers.calendar;
  if (const auto units = time_units(text))
    for (const Value& value : numbers.values) numbers.texts.push_back(date_of(value, *units));
}

}  // namespace

bool may_leave_out_elements(const DatasetView& view, const ReduceOptions& options) {
  return options.min_count > 0 || !view.decoding.selects_all() ||
         (options.summary.nan == NanPolicy::skip && is_floating(view.value_type()));
}

std::vector<AxisOutput> outputs_of(const std::string& name, ElementType values,
                                   const ReduceOptions& options,
                                   std::span<const PlaceCoordinate> places) {
  std::vector<AxisOutput> outputs;
  const bool one = options.statistics.size() + options.quantiles.size() == 1 && places.size() <= 1;
  const auto add = [&](Statistic statistic, std::string_view operation) -> AxisOutput& {
    return outputs.emplace_back(
        AxisOutput{statistic, one ? name : name + '_' + std::string(operation),
                   axis_output_type(statistic, values, options.output_type)});
  };
  for (const Statistic statistic : options.statistics) {
    if (places.empty() || !row_of(statistic).is_index())
      add(statistic, name_of(statistic));
    else
      for (const PlaceCoordinate& place : places) {
        const std::string operation(name_of(statistic));
        AxisOutput& output =
            add(statistic, places.size() == 1 ? operation : operation + '_' + place.name);
        output.type = place.type;
        output.dimension = place.name;
        output.numbers = {{}, place.units, place.calendar, {}};
      }
  }
  const Statistic alike =
      gives_elements(options.quantile_method) ? Statistic::min : Statistic::mean;
  for (const double fraction : options.quantiles)
    add(alike, quantile_name(fraction)).quantile = fraction;
  return outputs;
}

void require_few(const std::vector<AxisOutput>& outputs, const std::vector<std::uint64_t>& shape,
                 const OutputOptions& options) {
  const std::uint64_t numbers = outputs.size() * product(shape);
  if (!options.path.empty() || numbers <= max_reported_numbers) return;
  throw usage_error("the output is missing",
                    "there are " + std::to_string(numbers) + " results, and at most " +
                        std::to_string(max_reported_numbers) + " are reported without one",
                    "Name a file with `output`.");
}

void require_few_labels(std::uint64_t labels) {
  if (labels > max_reported_labels)
    throw Error(
        "there are " + std::to_string(labels) + " labels",
        "at most " + std::to_string(max_reported_labels) + " are reported without an output",
        "Name an output file, or select a part of the dataset.");
}

void add_outputs(io::OutputSpec& file, const DatasetView& view, const ReduceOptions& options,
                 ReduceResult& result, const io::DatasetText& input) {
  const bool may_be_missing = may_leave_out_elements(view, options);
  std::vector<AxisOutput>& outputs = result.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const StatisticRow& row = row_of(outputs[i].statistic);
    io::OutputDataset& dataset = i == 0 ? file : file.others.emplace_back();
    dataset.dataset = outputs[i].dataset;
    dataset.format = {outputs[i].type, native_byte_order};
    dataset.carries_attributes = row.unit != ResultUnit::none;
    dataset.dropped_attributes =
        row.is_extremum() ? dropped_of_extrema(view, options) : element_attributes(view);
    dataset.fill_value = fill_value_of(outputs[i], may_be_missing, options);
    if (!outputs[i].dimension.empty()) {
      dataset.changed_text = place_text_of(outputs[i], input);
      continue;
    }
    io::DatasetText said = input;
    if (!options.times.empty()) dataset.dropped_attributes.emplace_back("units");
    if (std::ranges::count(dataset.dropped_attributes, "units") > 0) said.units.reset();
    dataset.changed_text = outputs[i].quantile
                               ? quantile_text_of(*outputs[i].quantile, said, result.axis_names)
                               : text_of(outputs[i].statistic, said, result.axis_names);
    describe_numbers(dataset, said, outputs[i].numbers);
  }
  set_shape(file, result.output_shape, options.storage);
}

std::vector<AxisTarget> targets_of(const std::vector<AxisOutput>& outputs,
                                   const ReduceOptions& options,
                                   std::span<const PlaceCoordinate> places, ArrayOutput& file) {
  std::vector<AxisTarget> targets;
  std::size_t place = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_place = !outputs[i].dimension.empty();
    targets.push_back({outputs[i].statistic, outputs[i].type, file.writer(i),
                       chosen_zero(outputs[i], options), missing_value(outputs[i], options),
                       options.min_count, is_place ? &places[place++ % places.size()] : nullptr});
  }
  return targets;
}

void finish_outputs(ArrayOutput& staged, ReduceResult& result, Run& run,
                    std::vector<StageTiming>& stages) {
  add_up(stages, staged.finish());
  if (!staged.spec().path.empty()) return;
  run_on_root(run.communicator, [&] {
    result.coordinates = io::coordinates_of(staged.spec());
    for (ReportedCoordinate& coordinate : result.coordinates) add_dates(coordinate);
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      result.outputs[i].numbers.values = staged.values(i);
      add_dates(result.outputs[i].numbers);
    }
  });
}

void note_results_of_nothing(const AxisWriter& writer, const std::string& dataset,
                             const ReduceOptions& options, Run& run) {
  const std::vector<std::uint64_t> mine{writer.sums_of_nothing(), writer.marked_results()};
  const std::vector<std::uint64_t> all = mpi::sum(mine, run.communicator);
  if (all[1] > 0)
    run.note(std::to_string(all[1]) + " extrema of '" + dataset +
             "' have the value of missing ones, " + coordinate_text(options.summary.empty) +
             ". Choose another value with `empty`.");
  const std::uint64_t count = all[0];
  if (count == 0 || !run.communicator.is_root()) return;
  run.note("no element of '" + dataset + "' is valid in " + std::to_string(count) +
           (options.empty == "auto" ? " of the sums: they are 0. Choose another value with `empty`."
                                    : " of the sums: they are " + options.empty + "."));
}

void describe_axes(const std::vector<int>& along, const DatasetView& view, ReduceResult& result,
                   io::OutputSpec& file, Run& run) {
  result.axes = along;
  run_on_root(run.communicator, [&] {
    const std::vector<std::string> all = dimension_names(view.info());
    for (const int axis : along) result.axis_names.push_back(all[static_cast<std::size_t>(axis)]);
    // None where one is missing.
    if (std::ranges::count(result.axis_names, "") > 0) result.axis_names.clear();
  });
  std::vector<std::string> axes;
  for (const int axis : along) axes.push_back(std::to_string(axis));
  file.text_attributes.emplace_back("warpfold_axis", joined(axes, ","));
  if (!result.axis_names.empty())
    file.text_attributes.emplace_back("warpfold_axis_names", joined(result.axis_names, ","));
}

}  // namespace warpfold::pipeline
