#include "pipeline/meaning/dataset_name.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/text.hpp"
#include "core/values/calendar.hpp"
#include "core/values/value_filters.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::string_view separator = "::";

std::size_t begin_of_dataset(std::string_view text) {
  const std::size_t place = text.rfind(separator);
  return place == std::string_view::npos ? 0 : place + separator.size();
}

/// Returns whether a text as a whole is the name of something that is there.
bool is_name_of_dataset(const std::string& text, const std::string& file) {
  const std::size_t begin = begin_of_dataset(text);
  const std::string of = begin == 0 ? file : text.substr(0, begin - separator.size());
  try {
    return begin < text.size() && io::has_dataset(of, text.substr(begin));
  } catch (const Error&) {
    return false;
  }
}

std::optional<std::size_t> begin_of_comparison(std::string_view text) {
  constexpr std::string_view before_equal = "<>=!";
  const std::size_t last = text.find_last_of("<>=");
  if (last == std::string_view::npos || !is_number(trimmed(text.substr(last + 1))))
    return std::nullopt;
  if (text[last] != '=') return last;
  if (last == 0 || before_equal.find(text[last - 1]) == std::string_view::npos) return std::nullopt;
  return last - 1;
}

/// Finds where a condition begins behind a part of a time, which may have several operands.
std::optional<std::size_t> begin_behind_part_of_time(std::string_view text) {
  const std::size_t relation = text.find_first_of("<>=!");
  const std::string_view name = trimmed(text.substr(0, text.find_first_of("@<>=!")));
  return relation != std::string_view::npos && part_of_time(name) != nullptr
             ? std::optional(relation)
             : std::nullopt;
}

/// Finds where a condition begins behind a name.
std::optional<std::size_t> begin_of_condition(std::string_view text) {
  if (const auto begin = begin_behind_part_of_time(text)) return begin;
  if (const auto begin = begin_of_comparison(text)) return begin;
  for (const std::string_view word : {"finite", "inf", "nan"})
    if (text.size() > word.size() && text.ends_with(word) &&
        text[text.size() - word.size() - 1] == ' ')
      return text.size() - word.size();
  return std::nullopt;
}

NamedCondition with_condition(const std::string& option, const std::string& text,
                              std::size_t begin) {
  return {option, text, std::string(trimmed(std::string_view(text).substr(0, begin))),
          text.substr(begin)};
}

Axis axis_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc{} && end == text.data() + text.size()) return number;
  return std::string(text);
}

}  // namespace

NamedDataset parse_plain_name(const std::string& option, const std::string& text,
                              const std::string& file) {
  const std::size_t begin = begin_of_dataset(text);
  NamedDataset named{option, begin == 0 ? file : text.substr(0, begin - separator.size()),
                     text.substr(begin), begin > 0};
  if (named.file.empty() || named.dataset.empty())
    throw usage_error("bad `" + option + "` '" + text + "'", "it names no dataset",
                      "Give DATASET, or FILE::DATASET of another file.");
  return named;
}

NamedDataset parse_dataset_name(const std::string& option, const std::string& text,
                                const std::string& file) {
  const std::size_t place = text.rfind('@');
  if (place == std::string::npos || place < begin_of_dataset(text) ||
      is_name_of_dataset(text, file))
    return parse_plain_name(option, text, file);
  NamedDataset named = parse_plain_name(option, text.substr(0, place), file);
  for (std::size_t begin = place + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = trimmed(std::string_view(text).substr(begin, end - begin));
    if (part.empty())
      throw usage_error("bad `" + option + "` '" + text + "'", "a dimension is missing after '@'",
                        "Give dimensions of the dataset by numbers or names, such as '@0'.");
    named.dimensions.push_back(axis_of(part));
    begin = end + 1;
  }
  return named;
}

NamedCondition parse_mask(const std::string& text, const std::string& file) {
  const NamedCondition plain{"mask", text, text, "!=0"};
  const auto begin = begin_of_condition(text);
  const bool negated = text.starts_with('!');
  if ((!negated && !begin) || is_name_of_dataset(text, file)) return plain;
  if (negated && begin)
    throw usage_error("bad `mask` '" + text + "'", "it has both '!' and a condition",
                      "Give the opposite condition alone.");
  if (begin == 0)
    throw usage_error("bad `mask` '" + text + "'", "it names no dataset",
                      "Give a dataset's name before the condition, or use `where`.");
  return negated ? NamedCondition{"mask", text, text.substr(1), "==0"}
                 : with_condition("mask", text, *begin);
}

std::optional<NamedCondition> condition_on_other(const std::string& text) {
  const auto begin = begin_of_condition(text);
  if (!begin) return std::nullopt;
  NamedCondition condition = with_condition("where", text, *begin);
  // '>0 <5' are two conditions in one.
  const bool is_other = condition.dataset.find_first_of("<>=!") != 0 &&
                        !condition.dataset.empty() && !is_number(condition.dataset);
  return is_other ? std::optional(std::move(condition)) : std::nullopt;
}

std::vector<std::string> own_conditions(const std::vector<std::string>& where) {
  std::vector<std::string> own;
  std::ranges::copy_if(where, std::back_inserter(own),
                       [](const std::string& text) { return !condition_on_other(text); });
  return own;
}

std::vector<std::string> names_beside(const ViewOptions& options) {
  std::vector<std::string> names;
  if (!options.mask.empty()) names.push_back(options.mask);
  for (const std::string& text : options.where)
    if (const auto condition = condition_on_other(text)) names.push_back(condition->dataset);
  return names;
}

NamedDataset dataset_of(const std::string& text, const std::string& file) {
  return parse_dataset_name("mask", parse_mask(text, file).dataset, file);
}

}  // namespace warpfold::pipeline
