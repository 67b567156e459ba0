#include "pipeline/datasets/axis_times.hpp"

#include <limits>
#include <type_traits>

#include "core/base/text.hpp"
#include "core/values/cf_time.hpp"
#include "core/values/time_windows.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/dataset_text.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/meaning/decoded_values.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/meaning/matching.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

template <class Value>
std::optional<Instant> instant_of(const TimeUnits& units, Value value) {
  if constexpr (!std::is_integral_v<Value>) {
    return units.instant(widened(value));
  } else {
    if (std::cmp_greater(value, std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return units.instant(static_cast<std::int64_t>(value));
  }
}

/// NaN, and what NumPy's "not a time" is as an integer, are no times.
template <class Value>
bool is_no_time(Value value) {
  if constexpr (std::is_same_v<Value, std::int64_t>)
    return value == std::numeric_limits<std::int64_t>::min();
  return widened(value) != widened(value);
}

/// Says that times are the ends of their bounds, of which midnight is in the next day. Throws
/// Error.
std::string note_on_ends(const io::DatasetInfo& info, const std::string& coordinate,
                         const std::vector<std::optional<IndexTime>>& times) {
  const auto midnight = std::ranges::find_if(
      times, [](const auto& time) { return time && time->instant.microsecond == 0; });
  if (midnight == times.end()) return "";
  const std::string& file = info.stored_file;
  const std::string group = coordinate.substr(0, coordinate.rfind('/') + 1);
  const io::DatasetText text = io::read_dataset_text(file, coordinate);
  if (!text.bounds || !io::has_dataset(file, group + *text.bounds)) return "";
  const std::uint64_t extent = io::Dataset(file, coordinate).info().elements;
  const auto line = read_coordinate_line(file, coordinate, {extent});
  const auto bounds = read_coordinate_line(file, group + *text.bounds, {extent, 2});
  if (!line || !bounds || (!bounds->units.empty() && bounds->units != line->units)) return "";
  for (std::size_t i = 0; i < line->numbers.size(); ++i)
    if (bounds->numbers[2 * i] >= line->numbers[i] ||
        bounds->numbers[2 * i + 1] != line->numbers[i])
      return "";
  return "times of '" + coordinate.substr(group.size()) +
         "' are the ends of their bounds: that of index " +
         std::to_string(midnight - times.begin()) + " counts as " +
         date_text((*midnight)->instant, (*midnight)->calendar) +
         ". If they stand for the time before, shift them first, as 'cdo shifttime,-1hour' does.";
}

}  // namespace

std::vector<std::optional<IndexTime>> read_times(
    const io::DatasetInfo& info, std::size_t dimension, const std::string& coordinate,
    const std::string& what, const std::function<void(const io::Dataset&)>& opened) {
  const bool several = io::is_joined_along(info, dimension);
  std::vector<std::optional<IndexTime>> times;
  for (const std::string& file : several ? info.files : std::vector{info.stored_file}) {
    const io::OpenFile kept(file);
    io::Dataset line(file, coordinate);
    line.take_as_unsigned();
    const io::DatasetInfo& there = line.info();
    if (const std::size_t dimensions = there.stored_shape.size(); dimensions != 1)
      throw usage_error("cannot determine the " + what + " of '" + there.name + "'",
                        "it has " + std::to_string(dimensions) + " dimensions, not one",
                        "Name a dimension that has a coordinate of times.");
    opened(line);
    const io::DatasetText text = io::read_dataset_text(there.file, there.name);
    const std::string problem =
        "cannot determine the " + what + " of '" + there.name + "' in '" + there.file + "'";
    const TimeUnits units(text.units.value_or(""), text.calendar.value_or("standard"), problem);
    for_each_value(line, interpret(there, {}).decoding, [&](auto value, bool counts) {
      if (!counts || is_no_time(value)) return times.push_back(std::nullopt);
      const auto instant = instant_of(units, value);
      if (!instant)
        throw Error(problem, "index " + std::to_string(times.size()) + " is too far away",
                    "Correct it, or mark it by an attribute '_FillValue'.");
      times.push_back(IndexTime{*instant, units.calendar()});
    });
  }
  const std::uint64_t extent = info.stored_shape[dimension];
  if (times.size() != extent)
    throw usage_error("cannot determine the " + what + " of '" + coordinate + "'",
                      "it has " + std::to_string(times.size()) + " elements, dimension " +
                          std::to_string(dimension) + " of '" + info.name + "' has " +
                          std::to_string(extent) + " indices",
                      "Name a dimension that has a coordinate of times.");
  return times;
}

SelectedDimension selected_dimension(const io::DatasetInfo& info, int dimension) {
  const Selection selection = io::selection_of(info);
  std::size_t stored = 0;
  for (int left = dimension; selection[stored].dropped || left-- > 0; ++stored)
    ;
  return {stored, selection[stored]};
}

std::vector<std::optional<IndexTime>> times_along(int dimension, DatasetView& view, Run& run,
                                                  const std::string& what) {
  const io::DatasetInfo& info = view.info();
  const SelectedDimension selected = selected_dimension(info, dimension);
  const std::string coordinate =
      named_dimension(static_cast<std::int64_t>(selected.stored), info).coordinate;
  const bool has_none = coordinate.empty();
  const std::string units =
      has_none ? "" : io::read_dataset_text(info.stored_file, coordinate).units.value_or("");
  if (lowered(units).find("since") == std::string::npos)
    throw usage_error(
        "cannot group by " + what,
        "dimension " + std::to_string(selected.stored) + " of '" + info.name +
            "' has no coordinate with times" + (has_none ? "" : "; its units are '" + units + "'"),
        "Choose an axis of times as the first, or name a dataset of labels: './" + what + "'.");
  auto times =
      selected.of(read_times(info, selected.stored, coordinate, what,
                             [&](const io::Dataset& line) { view.add_auxiliary(line, run); }));
  try {
    run.note(note_on_ends(info, coordinate, times));
  } catch (const Error&) {
    // Bounds that can't be read are not needed.
  }
  return times;
}

}  // namespace warpfold::pipeline
