#include "cli/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "warpfold/core/int128.hpp"

namespace warpfold::cli {
namespace {

std::string counted(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) {
    if (letter == '\'')
      quoted += "'\\''";
    else
      quoted += letter;
  }
  return quoted + "'";
}

}  // namespace

std::string to_text(double value) {
  if (std::isnan(value)) return "nan";
  if (value == 0.0 && std::signbit(value)) return "-0.0";
  return fmt::format("{}", value);
}

std::string to_text(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return to_text(*number);
  if (const auto* integer = std::get_if<int128>(&value)) return to_string(*integer);
  return "none";
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  for (; amount >= 1024.0; ++unit) amount /= 1024.0;
  return fmt::format("{:.2f} {}", amount, units[unit]);
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape, " x "));
}

std::string extent_text(const std::vector<std::uint64_t>& shape) {
  return shape_text(shape) + (shape.empty() ? "" : " elements");
}

std::string byte_order_text(ByteOrder order) {
  return order == ByteOrder::little ? "little" : "big";
}

std::string format_text(ElementFormat format) {
  const std::string name(name_of(format.type));
  return size_of(format.type) == 1 ? name : name + " " + byte_order_text(format.order) + "-endian";
}

std::string ranks_text(int ranks, int hosts) {
  return counted(ranks, "rank") + " on " + counted(hosts, "host");
}

std::string devices_text(const std::vector<std::string>& devices) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& device : devices) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& each) { return each.first == device; });
    if (known == counts.end())
      counts.emplace_back(device, 1);
    else
      ++known->second;
  }
  std::vector<std::string> parts;
  for (const auto& [device, count] : counts)
    parts.push_back(count == 1 ? device : fmt::format("{} x {}", count, device));
  return joined(parts, " and ");
}

std::string joined(const std::vector<std::string>& items, const std::string& separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string shell_quoted(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_quoted(word));
  return joined(quoted, " ");
}

}  // namespace warpfold::cli
