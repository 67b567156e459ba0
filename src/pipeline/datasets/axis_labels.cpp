#include "pipeline/datasets/axis_labels.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/values/cf_time.hpp"
#include "core/values/ordered_key.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/dataset/texts.hpp"
#include "pipeline/datasets/dataset_values.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Sorted, as labels are.
const std::vector<std::string> seasons{"DJF", "JJA", "MAM", "SON"};

constexpr std::pair<std::string_view, std::int64_t (*)(const CalendarTime&)> parts_of_time[] = {
    {"year", [](const CalendarTime& time) { return time.year; }},
    {"month", [](const CalendarTime& time) { return time.month; }},
    {"day", [](const CalendarTime& time) { return time.day; }},
    {"hour", [](const CalendarTime& time) { return time.hour; }},
    {"dayofyear", [](const CalendarTime& time) { return time.day_of_year; }},
    {"season", [](const CalendarTime& time) {
       constexpr std::int64_t of_quarter[] = {0, 2, 1, 3};
       return of_quarter[time.month % 12 / 3];
     }}};

using Key = std::uint64_t;  ///< ordered_key() of a label

/// Labels of indices; none where there is none.
struct Labels {
  std::string name;
  ElementType type = ElementType::i64;
  std::vector<std::optional<Key>> keys = {};
  std::vector<std::string> texts = {};  ///< whose numbers the labels are; none where these are none
};

/// Requires that a dataset has an element for each index along a dimension, or for some of them.
void require_line(const io::DatasetInfo& info) {
  const std::size_t dimensions = info.stored_shape.size();
  if (dimensions != 1)
    throw usage_error("cannot group by '" + info.name + "'",
                      "it has " + std::to_string(dimensions) + " dimensions, not one",
                      "Name a dataset with an element for each index along the first axis.");
}

/// Requires what a line has to be.
using Check = std::function<void(const io::DatasetInfo&)>;

io::Dataset open_line(const std::string& file, const std::string& name, const Check& check) {
  io::Dataset line(file, name);
  line.take_as_unsigned();
  check(line.info());
  return line;
}

template <class Value>
std::optional<CalendarTime> time_of(const TimeUnits& units, Value value) {
  if constexpr (!std::is_integral_v<Value>) {
    return units.time(widened(value));
  } else {
    if (std::cmp_greater(value, std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return units.time(static_cast<std::int64_t>(value));
  }
}

/// NaN, and what NumPy's "not a time" is as an integer, are no times.
template <class Value>
bool is_no_time(Value value) {
  if constexpr (std::is_same_v<Value, std::int64_t>)
    return value == std::numeric_limits<std::int64_t>::min();
  return widened(value) != widened(value);
}

void add_times(io::Dataset times, const std::string& part, Labels& labels) {
  const io::DatasetInfo& info = times.info();
  const io::DatasetText text = io::read_dataset_text(info.file, info.name);
  const std::string problem =
      "cannot determine the " + part + " of '" + info.name + "' in '" + info.file + "'";
  const TimeUnits units(text.units.value_or(""), text.calendar.value_or("standard"), problem);
  const auto part_of =
      std::ranges::find(parts_of_time, part, [](const auto& each) { return each.first; })->second;
  for_each_value(times, interpret(info, {}).decoding, [&](auto value, bool counts) {
    if (!counts || is_no_time(value)) return labels.keys.push_back(std::nullopt);
    const auto time = time_of(units, value);
    if (!time)
      throw Error(problem, "index " + std::to_string(labels.keys.size()) + " is too far away",
                  "Correct it, or mark it by an attribute '_FillValue'.");
    labels.keys.emplace_back(ordered_key(part_of(*time)));
  });
}

void add_integers(io::Dataset integers, Labels& labels) {
  const io::DatasetInfo& info = integers.info();
  const Decoding decoding = interpret(info, {}).decoding;
  const ElementType type = decoding.value_type(info.format.type);
  if (!is_integer(type))
    throw usage_error("`by` '" + info.name + "' has neither integers nor texts",
                      "it is of type " + std::string(name_of(type)),
                      "Name a dataset of integers or texts.");
  if (!labels.keys.empty() && type != labels.type)
    throw usage_error("`by` '" + info.name + "' has another type in '" + info.file + "'", "",
                      "Make it the same in all files.");
  labels.type = type;
  for_each_value(integers, decoding, [&](auto value, bool counts) {
    if constexpr (std::is_integral_v<decltype(value)>)
      labels.keys.push_back(counts ? std::optional(ordered_key(value)) : std::nullopt);
  });
}

/// Reads labels of a dataset of texts in some files; returns false where it has others.
bool read_texts(const std::vector<std::string>& files, const std::string& name, DatasetView& view,
                const Check& check, Labels& labels) {
  std::vector<io::Texts> parts;
  for (const std::string& file : files) {
    auto part = io::read_texts(file, name, [&](const io::DatasetInfo& info) {
      check(info);
      return io::selection_of(info);
    });
    if (!part) return false;
    view.auxiliary_files.merge(part->files);
    view.require_unchanged_auxiliary.push_back(part->require_unchanged);
    labels.texts.insert(labels.texts.end(), part->there.begin(), part->there.end());
    parts.push_back(std::move(*part));
  }
  std::ranges::sort(labels.texts);
  labels.texts.erase(std::unique(labels.texts.begin(), labels.texts.end()), labels.texts.end());
  for (const io::Texts& part : parts) {
    std::vector<Key> keys;
    for (const std::string& text : part.there)
      keys.push_back(
          ordered_key(std::ranges::lower_bound(labels.texts, text) - labels.texts.begin()));
    for (const auto& number : part.numbers)
      labels.keys.push_back(number ? std::optional(keys[*number]) : std::nullopt);
  }
  return true;
}

/// Returns the number of a dimension of info.shape in info.stored_shape.
std::size_t stored_number(const Selection& selection, int dimension) {
  std::size_t stored = 0;
  for (int left = dimension; selection[stored].dropped || left-- > 0; ++stored)
    ;
  return stored;
}

std::string coordinate_of(std::size_t dimension, const std::string& by,
                          const io::DatasetInfo& info) {
  const std::string coordinate =
      named_dimension(static_cast<std::int64_t>(dimension), info).coordinate;
  if (coordinate.empty())
    throw usage_error("cannot group by " + by,
                      "dimension " + std::to_string(dimension) + " of '" + info.name +
                          "' has no coordinate with times",
                      "Choose an axis of times, or name a dataset of labels: './" + by + "'.");
  return coordinate;
}

/// Names the part of time that `by` most likely means ("monthly", "years"); empty where none is.
std::string likely_part(const std::string& by) {
  if (by == "daily") return "day";
  if (by == "doy" || by == "yearday") return "dayofyear";
  for (const auto& [part, of] : parts_of_time)
    for (const std::string_view end : {"", "s", "ly", "al", "-of-year"})
      if (by == std::string(part) + std::string(end) || by == "time." + std::string(part))
        return std::string(part);
  return "";
}

/// Reads the labels of all selected indices along a dimension.
Labels read_labels(const std::string& by, int dimension, DatasetView& view, Run& run) {
  const io::DatasetInfo& info = view.info();
  const Selection selection = io::selection_of(info);
  const std::size_t stored = stored_number(selection, dimension);
  const bool several = !info.files.empty() && stored == info.concatenated_along;
  const bool times = is_part_of_time(by);
  const NamedDataset named = parse_plain_name("by", by, info.file);
  Labels labels{by.substr(by.find_last_of("/:") + 1)};
  if (by == "season") labels.texts = seasons;
  const std::string name = times ? coordinate_of(stored, by, info) : named.dataset;
  std::vector<std::string> files{times ? info.stored_file : named.file};
  if (several && by.find("::") == std::string::npos) files = info.files;
  const Check check = [&](const io::DatasetInfo& line) {
    require_line(line);
    if (!times && files.size() == 1 && line.stored_shape.front() == info.stored_shape[stored])
      run.note(match_beside("by", line, info, view.match, {{stored, 0, selection[stored]}}));
  };
  if (times || !read_texts(files, name, view, check, labels))
    for (const std::string& each : files) {
      io::Dataset line = open_line(each, name, check);
      view.add_auxiliary(line, run);
      times ? add_times(std::move(line), by, labels) : add_integers(std::move(line), labels);
    }
  const std::uint64_t extent = info.stored_shape[stored];
  if (labels.keys.size() != extent)
    throw usage_error("cannot group by '" + name + "'",
                      "it has " + std::to_string(labels.keys.size()) + " elements, dimension " +
                          std::to_string(stored) + " of '" + info.name + "' has " +
                          std::to_string(extent) + " indices",
                      "Name a dataset with an element for each index along the first axis.");
  const Slice& slice = selection[stored];
  for (std::uint64_t i = 0; i < slice.count; ++i)
    labels.keys[i] = labels.keys[slice.start + i * slice.step];
  labels.keys.resize(slice.count);
  if (!times && !labels.texts.empty()) {
    const auto empty = std::ranges::count_if(labels.keys, [](const auto& key) { return !key; });
    run.note(empty_labels_note(name, static_cast<std::uint64_t>(empty), slice.count));
  }
  return labels;
}

io::OutputDimension dimension_of(const Labels& labels, std::span<const Key> keys) {
  io::OutputDimension dimension{labels.name, labels.type};
  for (const Key key : keys) {
    const std::uint64_t bits = bits_of_key(key, labels.type);
    if (labels.texts.empty())
      dimension.numbers.push_back(bits);
    else
      dimension.texts.push_back(labels.texts.at(bits));
  }
  return dimension;
}

}  // namespace

bool is_part_of_time(const std::string& by) {
  return std::ranges::any_of(parts_of_time, [&](const auto& each) { return each.first == by; });
}

std::string empty_labels_note(const std::string& name, std::uint64_t empty, std::uint64_t labels) {
  if (empty == 0) return "";
  return std::to_string(empty) + " of " + std::to_string(labels) + " labels in '" + name +
         "' are empty: their elements belong to no label.";
}

Error advised_on_part(const std::string& by, const Error& error) {
  const std::string part = is_part_of_time(by) ? "" : likely_part(by);
  if (part.empty()) return error;
  return {error.problem(), error.why(),
          "Did you mean `by` " + part + ", along an `axis` of times? " + error.suggestion(),
          error.exit_code()};
}

LabelledGroups group_by(const std::string& by, int dimension, DatasetView& view, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  LabelledGroups labelled;
  std::vector<std::uint64_t> words;
  Labels labels;
  while_unchanged(view, communicator, [&] {
    run_on_root(communicator, [&] {
      try {
        labels = read_labels(by, dimension, view, run);
      } catch (const Error& error) {
        throw advised_on_part(by, error);
      }
    });
  });
  run_on_root(communicator, [&] {
    std::vector<Key> keys;
    for (const auto& key : labels.keys)
      if (key) keys.push_back(*key);
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    labelled.dimension = dimension_of(labels, keys);
    words.push_back(keys.size());
    for (const auto& key : labels.keys)
      words.push_back(
          key ? static_cast<std::uint64_t>(std::ranges::lower_bound(keys, *key) - keys.begin())
              : keys.size());
  });
  const std::string sent = mpi::broadcast(
      std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])),
      communicator);
  words.resize(sent.size() / sizeof(words[0]));
  std::memcpy(words.data(), sent.data(), sent.size());

  AxisGroups& groups = labelled.groups;
  groups.dimension = dimension;
  groups.count = words.front();
  for (std::uint64_t index = 0; index + 1 < words.size(); ++index) {
    const std::uint64_t group = words[index + 1];
    if (group == groups.count) continue;
    const bool goes_on = !groups.runs.empty() && groups.runs.back().group == group &&
                         groups.runs.back().indices.end() == index;
    if (goes_on)
      ++groups.runs.back().indices.count;
    else
      groups.runs.push_back({{index, 1}, group});
  }
  std::ranges::stable_sort(groups.runs, std::less{}, &GroupRun::group);
  return labelled;
}

}  // namespace warpfold::pipeline
