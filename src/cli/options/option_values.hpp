#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "warpfold/axis.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::cli {

/// Parses a number of bytes: "65536", "64K", "16M", "1G" or "2T", in powers of 1024; at least 1.
/// Throws a usage Error.
std::uint64_t parse_size(std::string_view option, std::string_view text);

/// Lists `minimum`, every power of 4 between, and `maximum`.
std::vector<std::uint64_t> powers_of_4(std::uint64_t minimum, std::uint64_t maximum);

/// Parses "A,B,...": sizes as parse_size() has them, or "LEAST:GREATEST", with the powers of 4
/// between; ascending, each once. Throws a usage Error.
std::vector<std::uint64_t> parse_sizes(std::string_view option, std::string_view text);

/// Parses "A,B,...", none empty, without the spaces around them. Throws a usage Error.
std::vector<std::string> parse_names(std::string_view option, std::string_view text);

/// Parses extents, slowest first: "1000" or "10,20,30". Throws a usage Error, also for more than
/// 2^60 elements.
std::vector<std::uint64_t> parse_shape(std::string_view option, std::string_view text);

/// Parses "0", "-1" or "time,lat": numbers of dimensions, negative ones from the last, and names,
/// which whole numbers are not. Throws a usage Error.
std::vector<Axis> parse_axes(std::string_view option, std::string_view text);

/// Parses one of these. Throws a usage Error, for several of them with `why`.
Axis parse_axis(std::string_view option, const std::string& text, const char* why);

/// Returns the name of a dataset. Throws a usage Error where it is empty.
std::string parse_name(std::string_view option, const std::string& text);

/// Parses an integer. Throws a usage Error for text that is none in [minimum, maximum].
std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t minimum,
                            std::uint64_t maximum);

/// Parses "1.5", "-2e10", "0x1.8p3", "nan" or "-inf": gives the nearest double. Throws a usage
/// Error, also for numbers beyond all doubles but zero.
double parse_real(std::string_view option, std::string_view text);

struct OutputName {
  std::string file;
  std::string dataset;  ///< empty where the input's is to be taken
};

/// Parses "FILE::DATASET", "FILE:DATASET" or "FILE"; the last colons separate. What is a path as it
/// stands, as its file is there, or its folder that has the colon, is "FILE". Throws a usage Error
/// for an empty part.
OutputName parse_output_name(std::string_view option, std::string_view text);

/// A choice is a word and what it stands for.
template <class Meaning>
using Choice = std::pair<std::string_view, Meaning>;

/// Returns the meaning of `text` among `choices`; throws a usage Error that lists them.
template <class Meaning, std::size_t Count>
Meaning parse_choice(std::string_view option, std::string_view text,
                     const Choice<Meaning> (&choices)[Count]) {
  std::string words;
  for (const auto& [word, meaning] : choices) {
    if (word == text) return meaning;
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  throw usage_error("bad " + std::string(option) + " '" + std::string(text) + "'", "",
                    "Choose from " + words + ".");
}

/// Writes the words of `choices` as a type has them: "auto|cuda|cpu".
template <class Meaning, std::size_t Count>
std::string words_of(const Choice<Meaning> (&choices)[Count]) {
  std::string words;
  for (const auto& [word, meaning] : choices)
    words += (words.empty() ? "" : "|") + std::string(word);
  return words;
}

/// Writes the names of `values` as a type has them: "sum|min|max".
template <class Named, std::size_t Count>
std::string names_of(const Named (&values)[Count]) {
  std::string names;
  for (const Named value : values)
    names += (names.empty() ? "" : "|") + std::string(name_of(value));
  return names;
}

inline constexpr Choice<OverflowPolicy> overflow_policies[] = {{"error", OverflowPolicy::error},
                                                               {"wrap", OverflowPolicy::wrap}};

inline constexpr Choice<NanPolicy> nan_policies[] = {{"propagate", NanPolicy::propagate},
                                                     {"skip", NanPolicy::skip}};

template <class Meaning, std::size_t Count>
std::string_view word_of(Meaning meaning, const Choice<Meaning> (&choices)[Count]) {
  return std::find_if(std::begin(choices), std::end(choices),
                      [&](const auto& choice) { return choice.second == meaning; })
      ->first;
}

}  // namespace warpfold::cli
