#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

/// Finds the one of `values` whose name_of() is `name`.
template <class Named, std::size_t Count>
std::optional<Named> find_named(const Named (&values)[Count], std::string_view name) {
  const auto* const end = values + Count;
  const auto* const found =
      std::find_if(values, end, [name](Named value) { return name_of(value) == name; });
  if (found == end) return std::nullopt;
  return *found;
}

/// Lists the names of `values` for a message: "a, b, c".
template <class Named, std::size_t Count>
std::string listed_names(const Named (&values)[Count]) {
  std::string list;
  for (const Named value : values) {
    if (!list.empty()) list += ", ";
    list += name_of(value);
  }
  return list;
}

/// Puts `separator` between `items`.
inline std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += separator;
    text += items[i];
  }
  return text;
}

/// Puts `separator` between `numbers`.
inline std::string joined(std::span<const std::uint64_t> numbers, std::string_view separator) {
  std::vector<std::string> items;
  for (const std::uint64_t number : numbers) items.push_back(std::to_string(number));
  return joined(items, separator);
}

/// Returns what is between the white space of a text.
inline std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Returns a text without white space at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

/// Returns a text with ASCII letters in lower case.
inline std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

/// Writes the shortest decimal that rounds to `value`, for messages.
inline std::string shortest_decimal(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

}  // namespace warpfold
