#include "pipeline/datasets/axis_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/base/text.hpp"
#include "core/layout/partition.hpp"
#include "core/values/cf_time.hpp"
#include "core/values/mask.hpp"
#include "core/values/time_windows.hpp"
#include "core/values/value_filters.hpp"
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

/// Returns the latest time of those that are rounded to a number.
template <class Value>
Instant latest_of(const TimeUnits& units, Value value, const Instant& instant) {
  if constexpr (std::is_same_v<Value, float>) {
    const float next = std::nextafter(value, std::numeric_limits<float>::infinity());
    return units.instant(std::midpoint(double{value}, double{next})).value_or(instant);
  }
  return instant;
}

/// NaN, and what NumPy's "not a time" is as an integer, are no times.
template <class Value>
bool is_no_time(Value value) {
  if constexpr (std::is_same_v<Value, std::int64_t>)
    return value == std::numeric_limits<std::int64_t>::min();
  return widened(value) != widened(value);
}

/// Says that times are the ends of their bounds, of which those at multiples of `step` after
/// midnight are in the next step; nothing where bounds can't be read.
std::string note_on_ends(const io::DatasetInfo& info, const std::string& coordinate,
                         const std::vector<std::optional<IndexTime>>& times, std::int64_t step) {
  const auto end = std::ranges::find_if(
      times, [step](const auto& time) { return time && time->instant.microsecond % step == 0; });
  if (end == times.end()) return "";
  try {
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
           "' are the ends of their bounds: that of index " + std::to_string(end - times.begin()) +
           " counts as " + date_text((*end)->instant, (*end)->calendar) +
           ". If they stand for the time before, shift them first, as 'cdo shifttime,-1hour' does.";
  } catch (const Error&) {
    return "";
  }
}

/// Returns the units of a coordinate; empty without one.
std::string units_of(const std::string& coordinate, const io::DatasetInfo& info) {
  if (coordinate.empty()) return "";
  return io::read_dataset_text(info.stored_file, coordinate).units.value_or("");
}

/// Returns the stored dimensions that have times, of those named or of all.
std::vector<NamedDimension> dimensions_of_times(std::vector<Axis> named,
                                                const io::DatasetInfo& info) {
  if (named.empty())
    for (std::size_t d = 0; d < info.stored_shape.size(); ++d)
      named.emplace_back(static_cast<std::int64_t>(d));
  std::vector<NamedDimension> dimensions;
  for (const Axis& axis : named) {
    NamedDimension each = named_dimension(axis, info);
    if (are_of_times(units_of(each.coordinate, info))) dimensions.push_back(std::move(each));
  }
  return dimensions;
}

/// Requires that one dimension has the times that a condition on `part` means.
void require_one(const std::vector<NamedDimension>& dimensions, const std::string& part,
                 const io::DatasetInfo& info, const std::string& problem) {
  if (dimensions.size() == 1) return;
  if (dimensions.empty())
    throw usage_error(problem, "'" + info.name + "' has no dimension with times",
                      "Name a dataset of numbers in place of " + part + ".");
  std::vector<std::uint64_t> numbers;
  for (const NamedDimension& each : dimensions) numbers.push_back(each.number);
  throw usage_error(
      problem,
      "dimensions " + joined(std::span<const std::uint64_t>(numbers), ", ") + " of '" + info.name +
          "' have times",
      "Name one of them, such as '" + part + "@" + std::to_string(numbers.front()) + "'.");
}

/// A condition on a part of times: a comparison with a number, or "==" or "!=" and several.
class TimeCondition {
 public:
  /// Throws a usage Error that begins with `problem`.
  TimeCondition(const PartOfTime& part, const std::string& text, const std::string& problem)
      : part_(part), differs_(text.starts_with("!=")) {
    try {
      if (!differs_ && !text.starts_with("==")) {
        accepted_.push_back(filter_of("", text));
        return;
      }
      for (std::size_t begin = 2; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view operand = std::string_view(text).substr(begin, end - begin);
        accepted_.push_back(filter_of("==", trimmed(operand)));
        begin = end + 1;
      }
    } catch (const Error& error) {
      throw usage_error(problem, error.why(),
                        part.is_season()
                            ? "Give seasons as DJF, MAM, JJA or SON, such as 'season==JJA' or "
                              "'season!=DJF,SON'."
                            : "Give numbers, such as 'month==7', 'month>=6' or 'month==12,1,2'.");
    }
  }

  bool holds(const CalendarTime& time) const {
    const std::int64_t number = part_.of(time);
    return differs_ != std::ranges::any_of(accepted_, [&](const ValueFilter& filter) {
             return filter.selects(number);
           });
  }

 private:
  ValueFilter filter_of(const std::string& relation, std::string_view operand) const {
    std::string number(operand);
    if (part_.is_season()) {
      if (relation.empty()) throw usage_error("", "seasons compare by == or !=", "");
      const auto season = std::ranges::find(seasons, operand);
      if (season == seasons.end()) throw usage_error("", "there is no season '" + number + "'", "");
      number = std::to_string(season - seasons.begin());
    }
    return filter_of_conditions(std::vector{relation + number}, ElementType::i64);
  }

  PartOfTime part_;
  bool differs_;
  std::vector<ValueFilter> accepted_;
};

}  // namespace

std::string note_on_rounding(std::span<const std::optional<IndexTime>> times,
                             const std::function<bool(const IndexTime&)>& changes) {
  const auto is_rounded = [&](const std::optional<IndexTime>& time) {
    return time && time->latest != time->instant && changes(*time);
  };
  const auto first = std::ranges::find_if(times, is_rounded);
  if (first == times.end()) return "";
  return std::to_string(std::count_if(first, times.end(), is_rounded)) +
         " times may count as earlier than they are, as f32 rounds them: index " +
         std::to_string(first - times.begin()) + " has " +
         date_text((*first)->instant, (*first)->calendar) + ". Store them as f64.";
}

std::vector<std::optional<IndexTime>> read_times(const io::DatasetInfo& info, std::size_t dimension,
                                                 const std::string& coordinate,
                                                 const std::string& what, const Opened& opened) {
  const bool several = io::is_joined_along(info, dimension);
  std::vector<std::optional<IndexTime>> times;
  for (const std::string& file : several ? info.files : std::vector{info.stored_file}) {
    const io::OpenFile kept(file);
    io::Dataset line(file, coordinate);
    line.take_as_unsigned();
    const io::DatasetInfo& there = line.info();
    const std::size_t expected = several && !info.new_dimension.empty() ? 0 : 1;
    if (const std::size_t dimensions = there.stored_shape.size(); dimensions != expected)
      throw usage_error("cannot determine the " + what + " of '" + there.name + "'",
                        "it has " + std::to_string(dimensions) + " dimensions, not one",
                        "Name a dimension that has a coordinate of times.");
    if (opened) opened(line);
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
      times.push_back(IndexTime{*instant, units.calendar(), latest_of(units, value, *instant)});
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
                                                  const std::string& what, std::int64_t step) {
  const io::DatasetInfo& info = view.info();
  const SelectedDimension selected = selected_dimension(info, dimension);
  const std::string coordinate =
      named_dimension(static_cast<std::int64_t>(selected.stored), info).coordinate;
  const std::string units = units_of(coordinate, info);
  if (!are_of_times(units))
    throw usage_error(
        "cannot group by " + what,
        "dimension " + std::to_string(selected.stored) + " of '" + info.name +
            "' has no coordinate with times" +
            (coordinate.empty() ? ""
             : units.empty()    ? "; '" + coordinate + "' has no units"
                                : "; its units are '" + units + "'"),
        "Choose an axis of times as the first, or name a dataset of labels: './" + what + "'.");
  auto times =
      selected.of(read_times(info, selected.stored, coordinate, what,
                             [&](const io::Dataset& opened) { view.add_auxiliary(opened, run); }));
  run.note(note_on_ends(info, coordinate, times, step));
  return times;
}

std::optional<KeptTimes> kept_times(const NamedCondition& condition, const io::DatasetInfo& info,
                                    const Opened& opened) {
  const NamedDataset named = parse_dataset_name(condition.option, condition.dataset, info.file);
  const PartOfTime* const part = named.names_file ? nullptr : part_of_time(named.dataset);
  if (part == nullptr) return std::nullopt;
  const std::string problem = "bad `" + condition.option + "` '" + condition.text + "'";
  const bool is_dataset = io::has_dataset(info.file, named.dataset);
  const std::vector<NamedDimension> dimensions = dimensions_of_times(named.dimensions, info);
  if (dimensions.empty() && is_dataset) return std::nullopt;
  require_one(dimensions, named.dataset, info, problem);
  const TimeCondition meant(*part, condition.condition, problem);
  const auto& [stored, coordinate] = dimensions.front();
  const Selection selection = io::selection_of(info);
  const SelectedDimension selected{stored, selection[stored]};
  const auto times = selected.of(read_times(info, stored, coordinate, named.dataset, opened));
  KeptTimes kept{.indices = times.size()};
  kept.words.resize(ceil_div(times.size(), std::uint64_t{Mask::word_bits}));
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!times[i] || !meant.holds(times[i]->date())) continue;
    kept.words[i / Mask::word_bits] |= std::uint64_t{1} << i % Mask::word_bits;
    ++count;
  }
  if (!selected.slice.dropped)
    kept.dimensions = {static_cast<std::size_t>(
        std::count_if(selection.begin(), selection.begin() + static_cast<std::ptrdiff_t>(stored),
                      [](const Slice& slice) { return !slice.dropped; }))};
  kept.notes = {note_on_ends(info, coordinate, times, part->step()),
                note_on_rounding(times, [&](const IndexTime& time) {
                  return meant.holds(time.date()) != meant.holds(time.latest_date());
                })};
  if (count == 0) kept.notes.push_back("no time satisfies '" + condition.text + "'.");
  if (is_dataset)
    kept.notes.push_back("'" + condition.text + "' means times; the dataset is './" +
                         named.dataset + "'.");
  return kept;
}

}  // namespace warpfold::pipeline
