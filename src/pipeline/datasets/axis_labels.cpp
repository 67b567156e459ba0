#include "pipeline/datasets/axis_labels.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"
#include "core/results/label_numbers.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/time_windows.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/texts.hpp"
#include "pipeline/datasets/axis_times.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/meaning/decoded_values.hpp"
#include "pipeline/meaning/interpretation.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {
namespace {

using Parts = std::vector<PartOfTime>;

/// Returns the parts of time that `by` names ("year,month"); none where it names a dataset.
Parts parts_named(std::string_view by) {
  Parts parts;
  for (;;) {
    const std::size_t comma = by.find(',');
    const PartOfTime* const part = part_of_time(by.substr(0, comma));
    if (part == nullptr) return {};
    parts.push_back(*part);
    if (comma == std::string_view::npos) return parts;
    by.remove_prefix(comma + 1);
  }
}

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
                      "Name a dataset with an element for each index along the first axis. "
                      "Integers of several dimensions need all of these as axes; texts of several "
                      "need a reduction of one file, without `axis`.");
}

/// Requires that the dimension after '@', if one is named, is that of the groups.
void require_axis(const NamedDataset& named, std::size_t dimension, const io::DatasetInfo& info) {
  const auto is_other = [&](const Axis& axis) {
    return named_dimension(axis, info).number != dimension;
  };
  if (named.dimensions.size() > 1 || std::ranges::any_of(named.dimensions, is_other))
    throw usage_error("cannot group by '" + named.dataset + "'",
                      "the dimensions after '@' are not the first axis, " +
                          std::to_string(dimension) + " of '" + info.name + "'",
                      "Name the dimension of the labels first in `axis`.");
}

/// Requires what a line has to be.
using Check = std::function<void(const io::DatasetInfo&)>;

io::Dataset open_line(const std::string& file, const std::string& name, const Check& check) {
  io::Dataset line(file, name);
  line.take_as_unsigned();
  check(line.info());
  return line;
}

std::string label_of(const Parts& parts, const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    texts.push_back(parts[i].is_season() ? std::string(seasons[static_cast<std::size_t>(values[i])])
                                         : zero_padded(values[i], parts[i].digits));
  return joined(texts, "-");
}

void add_times(const std::vector<std::optional<IndexTime>>& times, const PartOfTime& part,
               Labels& labels) {
  if (part.is_season()) labels.texts.assign(seasons.begin(), seasons.end());
  for (const auto& time : times)
    labels.keys.push_back(time ? std::optional(ordered_key(part.of(time->date()))) : std::nullopt);
}

/// Labels times by several parts that they have in common: by texts, in the order of the parts.
void add_times(const std::vector<std::optional<IndexTime>>& times, const Parts& parts,
               Labels& labels) {
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> groups;
  for (std::size_t index = 0; index < times.size(); ++index) {
    if (!times[index]) continue;
    const CalendarTime date = times[index]->date();
    std::vector<std::int64_t> values;
    for (const PartOfTime& part : parts) values.push_back(part.of(date));
    groups[std::move(values)].push_back(index);
  }
  labels.keys.resize(times.size());
  for (const auto& [values, indices] : groups) {
    const Key key = ordered_key(static_cast<std::int64_t>(labels.texts.size()));
    for (const std::size_t index : indices) labels.keys[index] = key;
    labels.texts.push_back(label_of(parts, values));
  }
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
    throw usage_error("`by` '" + info.name + "' has a different type in '" + info.file + "'", "",
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
    const auto select = [&](const io::DatasetInfo& info) {
      check(info);
      return io::selection_of(info);
    };
    auto part = io::read_texts(file, name, select, &view.info());
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

/// Names the part of time that `by` most likely means ("monthly", "years"); empty where none is.
std::string likely_part(const std::string& by) {
  if (by == "daily") return "day";
  if (by == "doy" || by == "yearday") return "dayofyear";
  for (const auto& [part, digits, of] : parts_of_time)
    for (const std::string_view end : {"", "s", "ly", "al", "-of-year"})
      if (by == std::string(part) + std::string(end) || by == "time." + std::string(part))
        return std::string(part);
  return "";
}

/// Reads the labels that a dataset has of all stored indices of a dimension; returns its name.
std::string read_dataset(const std::string& by, std::size_t dimension, DatasetView& view, Run& run,
                         Labels& labels) {
  const io::DatasetInfo& info = view.info();
  const Selection selection = io::selection_of(info);
  const NamedDataset named = parse_dataset_name("by", by, info.file);
  const std::string& name = named.dataset;
  require_axis(named, dimension, info);
  std::vector<std::string> files{named.file};
  const bool is_joined = io::is_joined_along(info, dimension) && !named.names_file;
  const bool is_new = is_joined && !info.new_dimension.empty();
  const bool are_scalars = is_new && io::read_dimension_names(info.file, name).empty();
  if (is_joined && is_new == are_scalars) files = info.files;
  const std::uint64_t extent = info.stored_shape[dimension];
  const Check check = [&](const io::DatasetInfo& line) {
    if (are_scalars) return require_same_units(name, files.front(), line.file);
    require_line(line);
    const std::uint64_t labels_there = line.stored_shape.front();
    if (files.size() > 1) {
      const io::DatasetInfo part = io::Dataset(line.file, info.name).info();
      const std::uint64_t there = part.stored_shape[dimension];
      require_extent(name, labels_there, there, info.name, line.file);
      require_same_units(name, files.front(), line.file);
      run.note(match_beside(named, line, part, view.match, {{dimension, 0, {0, there, 1, false}}}));
    } else if (labels_there == extent) {
      run.note(match_beside(named, line, info, view.match, {{dimension, 0, selection[dimension]}}));
    }
  };
  if (!read_texts(files, name, view, check, labels))
    for (const std::string& each : files) {
      io::Dataset line = open_line(each, name, check);
      view.add_auxiliary(line, run);
      add_integers(std::move(line), labels);
    }
  if (labels.keys.size() != extent)
    throw usage_error("cannot group by '" + name + "'",
                      "it has " + std::to_string(labels.keys.size()) + " elements, dimension " +
                          std::to_string(dimension) + " of '" + info.name + "' has " +
                          std::to_string(extent) + " indices",
                      "Name a dataset with an element for each index along the first axis.");
  return name;
}

/// Reads the labels of all selected indices along a dimension.
Labels read_labels(const std::string& by, int dimension, DatasetView& view, Run& run) {
  Labels labels{by};
  if (const Parts parts = parts_named(by); !parts.empty()) {
    std::ranges::replace(labels.name, ',', '_');
    const auto has = [&](std::string_view name) {
      return std::ranges::find(parts, name, &PartOfTime::name) != parts.end();
    };
    if (has("year") && has("season") && !has("month"))
      run.note("December is in the DJF of its own year. `every` season has it in the next year's.");
    const std::int64_t step = std::ranges::min(parts, {}, &PartOfTime::step).step();
    const auto times = times_along(dimension, view, run, by, step);
    run.note(note_on_rounding(times, [&](const IndexTime& time) {
      return std::ranges::any_of(parts, [&](const PartOfTime& part) {
        return part.of(time.date()) != part.of(time.latest_date());
      });
    }));
    if (parts.size() == 1)
      add_times(times, parts.front(), labels);
    else
      add_times(times, parts, labels);
    return labels;
  }
  const SelectedDimension selected = selected_dimension(view.info(), dimension);
  const std::string name = read_dataset(by, selected.stored, view, run, labels);
  labels.name = name.substr(name.rfind('/') + 1);
  labels.keys = selected.of(std::move(labels.keys));
  if (!labels.texts.empty()) {
    const auto empty = std::ranges::count_if(labels.keys, [](const auto& key) { return !key; });
    run.note(empty_labels_note(name, static_cast<std::uint64_t>(empty), labels.keys.size()));
  }
  return labels;
}

/// Takes the label away from indices whose times are not kept, where others of the same label don't
/// surround them: groups are of as few runs as before, and none is of such indices alone.
void keep_times(const DatasetView& view, int dimension, Labels& labels) {
  std::vector<std::optional<Key>>& keys = labels.keys;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end] == keys[begin]) ++end;
    const ElementRange kept =
        view.kept_times.within({begin, end - begin}, static_cast<std::size_t>(dimension));
    for (std::size_t i = begin; i < end; ++i)
      if (i < kept.first || i >= kept.end()) keys[i].reset();
  }
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

std::vector<GroupRun> runs_of(std::span<const std::uint32_t> numbers, std::uint64_t groups) {
  std::vector<GroupRun> in_order;
  std::vector<std::size_t> places(groups + 1);
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (numbers[index] == no_label) continue;
    if (index > 0 && numbers[index] == numbers[index - 1]) {
      ++in_order.back().indices.count;
    } else {
      in_order.push_back({{index, 1}, numbers[index]});
      ++places[numbers[index] + 1];
    }
  }
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<GroupRun> runs(in_order.size());
  for (const GroupRun& run : in_order) runs[places[run.group]++] = run;
  return runs;
}

}  // namespace

bool is_part_of_time(const std::string& by) { return !parts_named(by).empty(); }

std::string empty_labels_note(const std::string& name, std::uint64_t empty, std::uint64_t labels) {
  if (empty == 0) return "";
  return std::to_string(empty) + " of " + std::to_string(labels) + " labels in '" + name +
         "' are empty texts: their elements are skipped.";
}

Error advised_on_part(const std::string& name, const Error& error, const std::string& option) {
  const std::string part = is_part_of_time(name) ? "" : likely_part(name);
  if (part.empty()) return error;
  const std::string meant = option == "by" ? "`by` " + part + ", along an `axis` of times"
                                           : "`" + option + "` '" + part + "==...', of times";
  return {error.problem(), error.why(), "Did you mean " + meant + "? " + error.suggestion(),
          error.exit_code()};
}

NumberedKeys number_keys(std::span<const std::optional<std::uint64_t>> keys) {
  LabelNumbers numbers;
  NumberedKeys result;
  result.numbers.reserve(keys.size());
  for (const auto& key : keys) result.numbers.push_back(key ? numbers(*key) : no_label);
  result.keys.assign(numbers.labels().begin(), numbers.labels().end());
  std::ranges::sort(result.keys);
  std::vector<std::uint32_t> ranks;
  for (const std::uint64_t key : numbers.labels())
    ranks.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(result.keys, key) -
                                               result.keys.begin()));
  for (std::uint32_t& number : result.numbers)
    if (number != no_label) number = ranks[number];
  return result;
}

LabelledGroups group_by(const std::string& by, int dimension, DatasetView& view, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  LabelledGroups labelled;
  NumberedKeys numbered;
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
    keep_times(view, dimension, labels);
    numbered = number_keys(labels.keys);
    labelled.dimension = dimension_of(labels, numbered.keys);
  });
  AxisGroups& groups = labelled.groups;
  groups.dimension = dimension;
  groups.count = mpi::broadcast(std::uint64_t{numbered.keys.size()}, communicator);
  groups.runs = runs_of(mpi::broadcast(numbered.numbers, communicator), groups.count);
  labelled.dimension.is_of_cells =
      by.starts_with("year,") && is_part_of_time(by) && !groups.runs.empty() &&
      std::ranges::is_sorted(groups.runs, std::less{},
                             [](const GroupRun& each) { return each.indices.first; });
  return labelled;
}

}  // namespace warpfold::pipeline
