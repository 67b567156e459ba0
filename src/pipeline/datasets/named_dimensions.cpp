#include "pipeline/datasets/named_dimensions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/text.hpp"
#include "core/values/cf_time.hpp"
#include "core/values/time_windows.hpp"
#include "core/values/value_filters.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/dataset/dimensions.hpp"
#include "io/dataset/texts.hpp"
#include "pipeline/datasets/axis_times.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/meaning/coordinate.hpp"
#include "pipeline/meaning/matching.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::size_t max_listed_dimensions = 32;
constexpr std::uint64_t most_compared_coordinates = 1 << 20;

using Names = std::vector<io::DimensionName>;

std::string shown(const Names& names) { return names.empty() ? "" : names.front().name; }

std::vector<Names> names_of(const io::DatasetInfo& info) {
  const std::vector<Names> stored = io::read_dimension_names(info);
  const Selection selection = io::selection_of(info);
  std::vector<Names> names;
  for (std::size_t d = 0; d < selection.size(); ++d)
    if (!selection[d].dropped) names.push_back(stored[d]);
  return names;
}

std::string there_are(const std::vector<Names>& dimensions) {
  std::vector<std::string> names;
  for (const Names& each : dimensions)
    if (!each.empty()) names.push_back(shown(each));
  return names.empty() ? "its dimensions have no names"
                       : "it has " + io::enumerate(names, max_listed_dimensions);
}

/// Says how to use the values of a dataset that is no coordinate of one dimension; nothing where
/// there is none of numbers.
std::string advice_on_values(const std::string& name, const io::DatasetInfo& info) {
  try {
    io::Dataset(info.file, name);
  } catch (const Error&) {
    return "";
  }
  return " '" + name + "' is a dataset: `where` '" + name + " >= 30' tests its values.";
}

NamedDimension find_dimension(const std::string& name, const std::vector<Names>& dimensions,
                              const io::DatasetInfo& info) {
  std::optional<NamedDimension> found;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const auto named = std::ranges::find(dimensions[d], name, &io::DimensionName::name);
    if (named == dimensions[d].end()) continue;
    if (found)
      throw usage_error("several dimensions of '" + info.name + "' are called '" + name + "'",
                        "dimensions " + std::to_string(found->number) + " and " + std::to_string(d),
                        "Give their numbers.");
    found = {d, named->coordinate};
  }
  if (found) return *found;
  throw usage_error("'" + info.name + "' has no dimension '" + name + "'", there_are(dimensions),
                    "Give one of its names, or a number." + advice_on_values(name, info));
}

/// Turns slices whose bounds are coordinates into slices of indices.
class CoordinateSlice {
 public:
  CoordinateSlice(const std::string& selection, const NamedSlice& named)
      : selection_(selection), named_(named) {
    for (std::string_view rest = named.slice;;) {
      const std::size_t colon = rest.find(':');
      parts_.emplace_back(trimmed(rest.substr(0, colon)));
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
  }

  /// Returns whether a bound is a coordinate: a number that is not whole as it is written.
  bool by_coordinate() const {
    return parts_.size() <= 3 &&
           (is_coordinate(parts_[0]) || (is_range() && is_coordinate(parts_[1])));
  }

  /// Returns whether a bound is a date.
  bool by_date() const {
    return parts_.size() <= 3 && (is_date(parts_[0]) || (is_range() && is_date(parts_[1])));
  }

  /// Returns the index of a text, where the coordinates are texts.
  std::optional<std::string> of_texts(const io::DatasetInfo& info,
                                      const NamedDimension& found) const {
    if (found.coordinate.empty()) return std::nullopt;
    std::set<std::string> there;
    std::vector<std::string> coordinates;
    const bool is_joined = io::is_joined_along(info, found.number);
    for (const std::string& file : is_joined ? info.files : std::vector{info.stored_file}) {
      const auto texts = io::read_texts(file, found.coordinate, io::selection_of);
      if (!texts || texts->shape.size() > 1) return std::nullopt;
      there.insert(texts->there.begin(), texts->there.end());
      for (const auto& number : texts->numbers)
        coordinates.push_back(number ? texts->there[*number] : "");
    }
    if (coordinates.size() != info.stored_shape[found.number]) return std::nullopt;
    if (is_range()) refuse("has bounds for a dimension of texts", texts_advice);
    if (!there.contains(parts_[0]))
      refuse("matches no coordinate; there are " +
                 io::enumerate({there.begin(), there.end()}, max_listed_texts),
             texts_advice);
    if (std::ranges::count(coordinates, parts_[0]) > 1)
      refuse("matches several coordinates", texts_advice);
    return std::to_string(std::ranges::find(coordinates, parts_[0]) - coordinates.begin());
  }

  /// Returns the indices whose times are in the months, days, ... of dates, or between them.
  std::string of_dates(const io::DatasetInfo& info, const NamedDimension& found) const {
    if (found.coordinate.empty()) refuse("has a date for a dimension without times", dates_advice);
    const auto times =
        read_times(info, found.number, found.coordinate, "times", [](const io::Dataset&) {});
    const auto present = [](const auto& time) { return time.has_value(); };
    const auto first = std::ranges::find_if(times, present);
    if (first == times.end()) refuse("has a date for a dimension without times", dates_advice);
    const TimeWindow window = window_in((*first)->calendar, times);
    const auto holds = [&](const auto& time) { return time && window.holds(time->instant); };
    const auto begin = std::ranges::find_if(times, holds);
    if (begin == times.end())
      refuse("selects no time; times go from " + text_of(*first) + " to " +
                 text_of(*std::find_if(times.rbegin(), times.rend(), present)),
             dates_advice);
    const auto end = std::find_if_not(begin, times.end(), holds);
    if (std::any_of(end, times.end(), holds))
      refuse("selects times that are not consecutive", dates_advice);
    std::string slice =
        std::to_string(begin - times.begin()) + ":" + std::to_string(end - times.begin());
    if (parts_.size() > 2) slice.append(":").append(parts_[2]);
    return slice;
  }

  /// Returns which coordinates the indices have, where the numbers that are given could be meant as
  /// coordinates: each is one of them, and not that of its index. Empty where they aren't.
  std::string note(const io::DatasetInfo& info, const NamedDimension& found) const {
    if (parts_.size() > 2) return "";
    auto line = open_coordinate(info, found.number, found.coordinate);
    if (!line || line->info().elements > most_compared_coordinates) return "";
    const std::vector<double> numbers = Coordinate(std::move(*line)).numbers();
    if (std::string years = note_on_years(info, found, numbers); !years.empty()) return years;
    bool differ = false;
    for (const std::string& bound : parts_) {
      if (bound.empty()) continue;
      const double number = std::strtod(bound.c_str(), nullptr);
      const auto coordinate = std::ranges::find(numbers, number);
      if (coordinate == numbers.end()) return "";
      differ |= static_cast<double>(coordinate - numbers.begin()) != number;
    }
    if (!differ) return "";
    std::string with_points;
    for (const std::string& bound : parts_)
      with_points.append(&bound == parts_.data() ? "" : ":")
          .append(bound.empty() ? "" : bound + ".");
    return noted_indices("coordinate", numbers,
                         [](double each) { return shortest_decimal(each); }) +
           "Write '" + named_.name + "=" + with_points + "' for coordinates.";
  }

  std::string of_indices(const io::DatasetInfo& info, const NamedDimension& found) const {
    auto line = open_coordinate(info, found.number, found.coordinate);
    if (!line)
      refuse("has a coordinate for a dimension that has none for each index",
             coordinates_advice + advice_on_values(named_.name, info));
    Coordinate coordinate(std::move(*line));
    return is_range() ? range_of(coordinate) : index_of(coordinate);
  }

 private:
  static bool is_whole(std::string_view bound) {
    const bool sign = bound.starts_with('-') || bound.starts_with('+');
    return bound.find_first_not_of("0123456789", sign ? 1 : 0) == std::string_view::npos;
  }
  static bool is_coordinate(std::string_view bound) { return !bound.empty() && !is_whole(bound); }

  bool is_range() const { return parts_.size() > 1; }

  inline static const std::string coordinates_advice =
      "Give whole numbers for indices; give coordinates with a point or an exponent, such as '30.' "
      "or '-2.5:1e3' (bounds included).";
  inline static const std::string dates_advice =
      "Give dates of times, such as '2001-03' or '2001-03-15T0630:2001-04' (bounds included), or "
      "whole numbers for indices.";

  [[noreturn]] void refuse(const std::string& why,
                           const std::string& advice = coordinates_advice) const {
    throw usage_error(problem(), "'" + named_.name + "=" + named_.slice + "' " + why, advice);
  }

  /// Says that the numbers are indices, and what those that are there stand for.
  template <class Text>
  std::string noted_indices(const std::string& what, const std::vector<double>& numbers,
                            const Text& text) const {
    const std::string note =
        "'" + named_.name + "=" + named_.slice + (is_range() ? "' are indices" : "' is an index");
    const std::uint64_t extent = numbers.size();
    Slice slice;
    try {
      slice = parse_selection(selection_, std::vector{named_.slice}, {&extent, 1}).front();
    } catch (const Error&) {
      return note + ". ";
    }
    if (slice.count == 0) return note + ". ";
    const std::string first = text(numbers[slice.start]);
    if (!is_range()) return note + "; its " + what + " is " + first + ". ";
    return note + "; their " + what + "s are " + first + " to " +
           text(numbers[slice.start + (slice.count - 1) * slice.step]) + ". ";
  }

  /// Returns which times have the indices that are given, where these could be meant as years of
  /// the times.
  std::string note_on_years(const io::DatasetInfo& info, const NamedDimension& found,
                            const std::vector<double>& numbers) const {
    constexpr std::size_t digits_of_year = 4;
    const auto units = time_units(io::read_dataset_text(info.stored_file, found.coordinate));
    if (!units || numbers.empty() || (parts_[0].empty() && parts_.back().empty())) return "";
    const auto date = [&](double time) { return date_of(time, *units); };
    const std::string from = date(numbers.front()).substr(0, digits_of_year);
    const std::string to = date(numbers.back()).substr(0, digits_of_year);
    for (const std::string& year : parts_)
      if (!year.empty() && (year.size() != digits_of_year || year < from || year > to)) return "";
    const std::string& last = parts_.back();
    return noted_indices("time", numbers, date) + "Write '" + named_.name + "=" +
           (parts_[0].empty() ? "" : parts_[0] + "-01") + ":" + (last.empty() ? "" : last + "-12") +
           "' for " + (is_range() ? "years." : "the year.");
  }

  std::string problem() const { return "bad selection '" + selection_ + "'"; }

  static std::string text_of(const std::optional<IndexTime>& time) {
    return date_text(time->instant, time->calendar);
  }

  /// Returns the window from the begin of the first date to the end of the last.
  TimeWindow window_in(Calendar calendar,
                       const std::vector<std::optional<IndexTime>>& times) const {
    if (!std::ranges::all_of(times, [&](const auto& time) {
          return !time || have_one_count_of_days(time->calendar, calendar);
        }))
      refuse("has a date, but the calendars of the files differ", dates_advice);
    if (!is_range()) return window_of_date(parts_[0], calendar, problem());
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto window = [&](const std::string& bound) {
      if (bound.empty()) return TimeWindow{{-most, 0}, {most, 0}};
      constexpr std::size_t digits_of_year = 4;
      if (is_whole(bound) && bound.size() < digits_of_year)
        refuse("mixes an index with a date", dates_advice);
      return window_of_date(bound, calendar, problem());
    };
    const TimeWindow lower = window(parts_[0]);
    const TimeWindow upper = window(parts_[1]);
    if (upper.end <= lower.begin) refuse("begins with the later date", dates_advice);
    return {lower.begin, upper.end};
  }

  static constexpr const char* texts_advice = "Give one of these texts, or an index.";
  static constexpr std::size_t max_listed_texts = 10;

  static std::string condition(std::string_view relation, const std::string& bound) {
    return std::string(relation).append(bound);
  }

  ValueFilter filter(const std::vector<std::string>& conditions, ElementType type) const {
    try {
      return filter_of_conditions(conditions, type);
    } catch (const Error&) {
      refuse("contains neither indices nor coordinates");
    }
  }

  std::string index_of(Coordinate& coordinate) const {
    const bool takes_nearest = parts_[0].starts_with('~');
    const std::string number = parts_[0].substr(takes_nearest ? 1 : 0);
    const ValueFilter equal = filter({condition("==", number)}, coordinate.value_type());
    const bool rises = coordinate.rises();
    const ElementRange found = coordinate.selected(equal);
    if (found.count > 0) return std::to_string(found.first);
    const std::uint64_t less =
        coordinate.selected(filter({condition("<", number)}, coordinate.value_type())).count;
    const std::uint64_t behind = rises ? less : coordinate.size() - less;
    if (takes_nearest)
      return std::to_string(coordinate.nearer(behind, std::strtod(number.c_str(), nullptr)));
    std::string neighbours;
    if (behind > 0) neighbours = coordinate_text(coordinate.at(behind - 1));
    if (behind > 0 && behind < coordinate.size()) neighbours += " and ";
    if (behind < coordinate.size()) neighbours += coordinate_text(coordinate.at(behind));
    refuse("matches no coordinate; nearest: " + neighbours);
  }

  std::string range_of(Coordinate& coordinate) const {
    std::string lower = parts_[0];
    std::string upper = parts_[1];
    for (const std::string& bound : {lower, upper})
      if (!bound.empty() && is_whole(bound)) refuse("mixes an index with a coordinate");
    const bool reversed = !lower.empty() && !upper.empty() &&
                          std::strtod(lower.c_str(), nullptr) > std::strtod(upper.c_str(), nullptr);
    if (reversed) std::swap(lower, upper);
    std::vector<std::string> conditions;
    if (!lower.empty()) conditions.push_back(condition(">=", lower));
    if (!upper.empty()) conditions.push_back(condition("<=", upper));
    const ValueFilter between = filter(conditions, coordinate.value_type());
    if (coordinate.rises() && reversed)
      refuse("begins with the greater bound, but coordinates rise");
    const ElementRange found = coordinate.selected(between);
    if (found.count == 0)
      refuse("selects no coordinate; they go from " + coordinate_text(coordinate.at(0)) + " to " +
             coordinate_text(coordinate.at(coordinate.size() - 1)));
    std::string slice = std::to_string(found.first) + ":" + std::to_string(found.end());
    if (parts_.size() > 2) slice.append(":").append(parts_[2]);
    return slice;
  }

  const std::string& selection_;
  const NamedSlice& named_;
  std::vector<std::string> parts_;
};

/// Returns CoordinateSlice::note(); empty if the dimension's coordinates cannot be read, which
/// indices do not need.
std::string note_on_indices(const CoordinateSlice& slice, const io::DatasetInfo& info,
                            const NamedDimension& found) {
  try {
    return slice.note(info, found);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::vector<std::int64_t> axis_numbers(std::span<const Axis> axes, const io::DatasetInfo& info,
                                       const mpi::Communicator& communicator) {
  const auto is_name = [](const Axis& axis) { return std::holds_alternative<std::string>(axis); };
  const bool any_name = std::ranges::any_of(axes, is_name);
  std::vector<std::int64_t> numbers(axes.size());
  run_on_root(communicator, [&] {
    const std::vector<Names> names = any_name ? names_of(info) : std::vector<Names>{};
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (is_name(axes[i]))
        numbers[i] = static_cast<std::int64_t>(
            find_dimension(std::get<std::string>(axes[i]), names, info).number);
  });
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (const auto* number = std::get_if<std::int64_t>(&axes[i]))
      numbers[i] = *number;
    else
      numbers[i] = static_cast<std::int64_t>(
          mpi::broadcast(static_cast<std::uint64_t>(numbers[i]), communicator));
  return numbers;
}

NamedDimension named_dimension(const Axis& axis, const io::DatasetInfo& info) {
  const std::vector<Names> names = io::read_dimension_names(info);
  if (const auto* name = std::get_if<std::string>(&axis)) return find_dimension(*name, names, info);
  const auto dimensions = static_cast<std::int64_t>(info.stored_shape.size());
  const std::int64_t number = std::get<std::int64_t>(axis);
  if (number < -dimensions || number >= dimensions)
    throw usage_error("'" + info.name + "' has no dimension " + std::to_string(number),
                      "it has " + std::to_string(dimensions), "Give one of its dimensions.");
  const auto found = static_cast<std::size_t>(number < 0 ? number + dimensions : number);
  return {found, names[found].empty() ? "" : names[found].front().coordinate};
}

std::vector<std::string> dimension_names(const io::DatasetInfo& info) {
  std::vector<std::string> names;
  for (const Names& each : names_of(info)) names.push_back(shown(each));
  return names;
}

std::vector<DimensionDescription> describe_dimensions(const io::DatasetInfo& info) {
  std::vector<DimensionDescription> descriptions;
  for (const Names& names : io::read_dimension_names(info)) {
    DimensionDescription& description = descriptions.emplace_back();
    if (names.empty()) continue;
    description.name = shown(names);
    try {
      auto line = open_coordinate(info, descriptions.size() - 1, names.front().coordinate);
      if (!line) continue;
      Coordinate coordinate(std::move(*line));
      description.first = coordinate.at(0);
      description.last = coordinate.at(coordinate.size() - 1);
      const io::DatasetText text =
          io::read_dataset_text(info.stored_file, names.front().coordinate);
      if (const auto units = time_units(text)) {
        description.first_date = date_of(description.first, *units);
        description.last_date = date_of(description.last, *units);
      }
    } catch (const Error&) {
      continue;  // texts are no numbers, and what is damaged is not what was requested
    }
  }
  return descriptions;
}

NotedSelection make_selection(const std::string& text, const io::DatasetInfo& info) {
  const std::vector<NamedSlice> named = named_slices(text);
  if (named.empty()) return {parse_selection(text, info.stored_shape), ""};
  const std::vector<Names> names = io::read_dimension_names(info);
  std::vector<std::string> slices(info.stored_shape.size());
  std::string note;
  for (const NamedSlice& each : named) {
    const NamedDimension found = find_dimension(each.name, names, info);
    const std::size_t d = found.number;
    if (!slices[d].empty())
      throw usage_error("bad selection '" + text + "'", "'" + each.name + "' is selected twice",
                        "Name each dimension once.");
    const CoordinateSlice slice(text, each);
    if (!slice.by_date() && !slice.by_coordinate()) {
      slices[d] = each.slice;
      if (note.empty()) note = note_on_indices(slice, info, found);
    } else if (auto index = slice.of_texts(info, found)) {
      slices[d] = *std::move(index);
    } else {
      slices[d] = slice.by_date() ? slice.of_dates(info, found) : slice.of_indices(info, found);
    }
  }
  for (std::string& slice : slices)
    if (slice.empty()) slice.push_back(':');
  try {
    return {parse_selection(text, slices, info.stored_shape), note};
  } catch (const Error& error) {
    if (note.empty()) throw;
    throw usage_error(error.problem(), error.why(), note);
  }
}

}  // namespace warpfold::pipeline
