#include "cli/report/table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace warpfold::cli {
namespace {

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

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  }
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

std::string aligned_text(const Table& table) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::string text;
  for (const auto& row : table) {
    std::size_t missing_columns = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty())
        text += std::string(std::exchange(missing_columns, 0), ' ') + without_controls(row[i]);
      missing_columns += widths[i] + 2 - columns_of(row[i]);
    }
    text += '\n';
  }
  return text;
}

std::string csv_text(const Table& table) {
  std::string text;
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != 0) text += ',';
      text += csv_cell(row[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace warpfold::cli
