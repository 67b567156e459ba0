#include "cli/options/option_values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "core/base/text.hpp"

namespace warpfold::cli {
namespace {

constexpr std::uint64_t max_elements = std::uint64_t{1} << 60;
constexpr std::size_t max_dimensions = 32;

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the double that is nearest to a decimal or a hexadecimal number.
std::optional<double> real_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  double magnitude{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (text.starts_with('-') || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return negative ? -magnitude : magnitude;
}

/// Returns the binary exponent of a size's suffix; 0 for anything else.
int suffix_exponent(char suffix) {
  switch (suffix) {
    case 'K':
    case 'k':
      return 10;
    case 'M':
    case 'm':
      return 20;
    case 'G':
    case 'g':
      return 30;
    case 'T':
    case 't':
      return 40;
    default:
      return 0;
  }
}

Error bad_value(std::string_view option, std::string_view text, std::string why,
                std::string suggestion) {
  return usage_error(fmt::format("bad {} '{}'", option, text), std::move(why),
                     std::move(suggestion));
}

/// Returns whether text with a colon is a path as it stands: a file's, or one in a folder with it.
bool is_path(std::string_view text) {
  namespace fs = std::filesystem;
  const fs::path path(text);
  std::error_code failure;
  if (fs::exists(fs::symlink_status(path, failure))) return true;
  return text.rfind(':') < text.find_last_of("/:") && fs::is_directory(path.parent_path(), failure);
}

/// Returns what stands between an output's file and dataset; nothing where no dataset is named.
std::string_view separator_in(std::string_view text) {
  if (text.find("::") != std::string_view::npos) return "::";
  return text.find(':') == std::string_view::npos || is_path(text) ? "" : ":";
}

}  // namespace

std::uint64_t parse_size(std::string_view option, std::string_view text) {
  const int exponent = text.empty() ? 0 : suffix_exponent(text.back());
  const auto count =
      whole_number<std::uint64_t>(exponent == 0 ? text : text.substr(0, text.size() - 1));
  const bool fits =
      count && *count > 0 && *count <= std::numeric_limits<std::uint64_t>::max() >> exponent;
  if (fits) return *count << exponent;
  throw bad_value(option, text, "a size is a number of bytes above 0, alone or with K, M, G or T",
                  fmt::format("Try {} 64K, {} 16M or {} 1G.", option, option, option));
}

std::vector<std::uint64_t> powers_of_4(std::uint64_t minimum, std::uint64_t maximum) {
  std::vector<std::uint64_t> sizes{minimum};
  constexpr int max_exponent = 62;
  for (int exponent = 0; exponent <= max_exponent; exponent += 2) {
    const std::uint64_t power = std::uint64_t{1} << exponent;
    if (power > minimum && power < maximum) sizes.push_back(power);
  }
  if (maximum > minimum) sizes.push_back(maximum);
  return sizes;
}

std::vector<std::uint64_t> parse_sizes(std::string_view option, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::uint64_t minimum = parse_size(option, text.substr(0, colon));
    const std::uint64_t maximum = parse_size(option, text.substr(colon + 1));
    if (minimum <= maximum) return powers_of_4(minimum, maximum);
    throw bad_value(option, text, "the first size is the smaller one",
                    fmt::format("Try {} 1K:4G.", option));
  }
  std::vector<std::uint64_t> sizes;
  for (const std::string& name : parse_names(option, text))
    sizes.push_back(parse_size(option, name));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<std::string> parse_names(std::string_view option, std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    names.emplace_back(trimmed(rest.substr(0, comma)));
    if (names.back().empty())
      throw bad_value(option, text, text.empty() ? "" : "a value is missing next to a comma",
                      "Give one or several, separated by commas.");
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::uint64_t> parse_shape(std::string_view option, std::string_view text) {
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 1;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const auto extent = whole_number<std::uint64_t>(rest.substr(0, comma));
    if (!extent)
      throw bad_value(option, text, "extents are whole numbers, separated by commas",
                      fmt::format("Try {} 1000 or {} 200,300.", option, option));
    if (*extent != 0 && elements > max_elements / *extent)
      throw bad_value(option, text, "it has more than 2^60 elements", "Choose smaller extents.");
    elements *= *extent;
    shape.push_back(*extent);
    if (shape.size() > max_dimensions)
      throw bad_value(option, text, "HDF5 has at most 32 dimensions", "Give fewer extents.");
    if (comma == std::string_view::npos) return shape;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<Axis> parse_axes(std::string_view option, std::string_view text) {
  std::vector<Axis> axes;
  for (const std::string& name : parse_names(option, text))
    if (const auto number = whole_number<std::int64_t>(name))
      axes.emplace_back(*number);
    else
      axes.emplace_back(name);
  return axes;
}

Axis parse_axis(std::string_view option, const std::string& text, const char* why) {
  const std::vector<Axis> axes = parse_axes(option, text);
  if (axes.size() == 1) return axes.front();
  throw bad_value(option, text, why, fmt::format("Try {} 0.", option));
}

std::string parse_name(std::string_view option, const std::string& text) {
  if (text.empty()) throw bad_value(option, text, "", "Name a dataset.");
  return text;
}

std::uint64_t parse_integer(std::string_view option, std::string_view text, std::uint64_t minimum,
                            std::uint64_t maximum) {
  const auto number = whole_number<std::uint64_t>(text);
  if (number && *number >= minimum && *number <= maximum) return *number;
  throw bad_value(option, text, "",
                  fmt::format("Give a whole number from {} to {}.", minimum, maximum));
}

double parse_real(std::string_view option, std::string_view text) {
  if (const auto number = real_number(text)) return *number;
  throw bad_value(option, text, "it is not a number that a double can hold",
                  "Give one as 1.5, 1e-3 or 0x1.8p3.");
}

OutputName parse_output_name(std::string_view option, std::string_view text) {
  const std::string_view separator = separator_in(text);
  const std::size_t place = separator.empty() ? text.size() : text.rfind(separator);
  const std::string_view file = text.substr(0, place);
  const std::string_view dataset = text.substr(place + separator.size());
  if (file.empty() || (!separator.empty() && dataset.empty()))
    throw bad_value(option, text, "the last colon stands between file and dataset",
                    fmt::format("Try {} out.h5 or {} out.h5:DATASET.", option, option));
  if (file == "-")
    throw bad_value(option, text, "an output is a file of HDF5, and standard output is none",
                    "Name a file. Without one reduce prints up to 100 numbers.");
  return {std::string(file), std::string(dataset)};
}

}  // namespace warpfold::cli
