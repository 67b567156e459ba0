#include "cli/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "warpfold/core/int128.hpp"

namespace warpfold::cli {
namespace {

/// Members of options that the library's messages name, whose flags are their names with hyphens.
constexpr std::string_view members[] = {
    "append",  "axis",      "backend",     "by",         "complete", "concat",  "ddof", "empty",
    "every",   "exclusive", "external",    "fill_value", "force",    "json",    "mask", "match",
    "offsets", "output",    "output_type", "overflow",   "places",   "range",   "raw",  "read_path",
    "select",  "shape",     "share_gpu",   "threads",    "times",    "weights", "where"};

/// Other members, and the command line's words for them.
constexpr std::pair<std::string_view, std::string_view> words_of_members[] = {
    {"deflate_level", "--deflate level"},
    {"device_memory_bytes", "--device-memory"},
    {"edges", "--bins edges"},
    {"keep_dimensions", "--keepdims"},
    {"on_device", "--device"},
    {"operation", "--op"},
    {"quantile_memory_bytes", "--quantile-memory"},
    {"slab_bytes", "--slab"},
    {"statistics", "--ops"}};

void replace_member(std::string& message, std::string_view member, std::string_view words) {
  const std::string quoted = fmt::format("`{}`", member);
  for (std::size_t at = message.find(quoted); at != message.npos; at = message.find(quoted, at))
    message.replace(at, quoted.size(), words);
}

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

/// Letters as a terminal shows them: UTF-8's continuation bytes take no column.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

/// Names come from files: a terminal must not obey what they hold.
std::string without_controls(std::string text) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

std::vector<std::size_t> column_widths(const RowVisits& visit_rows) {
  std::vector<std::size_t> widths;
  visit_rows([&](const auto& row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  });
  return widths;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char letter : cell) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

}  // namespace

std::string to_text(double value) {
  if (std::isnan(value)) return "nan";
  if (value == 0.0 && std::signbit(value)) return "-0.0";
  return fmt::format("{}", value);
}

std::string to_text(const Value& value, const std::string& none) {
  if (const auto* number = std::get_if<double>(&value)) return to_text(*number);
  if (const auto* integer = std::get_if<int128>(&value)) return to_string(*integer);
  return none;
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

std::string shell_quoted(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_quoted(word));
  return joined(quoted, " ");
}

std::string with_flags(std::string message) {
  for (const std::string_view member : members) {
    std::string flag = fmt::format("--{}", member);
    std::ranges::replace(flag, '_', '-');
    replace_member(message, member, flag);
  }
  for (const auto& [member, words] : words_of_members) replace_member(message, member, words);
  return message;
}

std::string aligned_text(const Table& table) {
  return aligned_text_of([&](const auto& visit) { std::ranges::for_each(table, visit); });
}

std::string aligned_text_of(const RowVisits& visit_rows) {
  const std::vector<std::size_t> widths = column_widths(visit_rows);
  std::string text;
  visit_rows([&](const auto& row) {
    std::size_t missing_columns = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty())
        text += std::string(std::exchange(missing_columns, 0), ' ') + without_controls(row[i]);
      missing_columns += widths[i] + 2 - columns_of(row[i]);
    }
    text += '\n';
  });
  return text;
}

std::string csv_text(const Table& table) {
  std::string text;
  for (const auto& row : table) {
    for (std::size_t i = 0; i < table.front().size(); ++i) {
      if (i != 0) text += ',';
      if (i < row.size()) text += csv_cell(row[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace warpfold::cli
