#include "pipeline/meaning/statistic_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/base/text.hpp"
#include "core/results/quantile.hpp"
#include "core/results/statistic_table.hpp"

namespace warpfold::pipeline {
namespace {

bool is_celsius(const std::string& unit) {
  constexpr std::array<std::string_view, 10> names{
      "degc",      "deg_c",   "degreec",        "degreesc",        "degree_c",
      "degrees_c", "celsius", "degree_celsius", "degrees_celsius", "\u00b0c"};
  return std::find(names.begin(), names.end(), lowered(unit)) != names.end();
}

/// Returns the unit of differences between times, "days" of "days since 2000-01-01".
std::string without_date(const std::string& unit) { return unit.substr(0, unit.find(" since ")); }

/// Returns the unit of differences between numbers.
std::string difference_unit(const std::string& unit) {
  return is_celsius(unit) ? "K" : without_date(unit);
}

std::string unit_of(ResultUnit result, const std::string& unit) {
  if (result == ResultUnit::squared) return squared_unit(unit);
  if (result == ResultUnit::difference) return difference_unit(unit);
  return result == ResultUnit::none ? "1" : unit;
}

void add_cell_method(const char* method, const io::DatasetText& input,
                     const std::vector<std::string>& reduced, ChangedText& text) {
  if (reduced.empty()) return;
  std::string methods = input.cell_methods.value_or("");
  for (const std::string& name : reduced) {
    if (!methods.empty()) methods += ' ';
    methods += name + ':';
  }
  text.emplace_back("cell_methods", methods + ' ' + method);
}

}  // namespace

std::string squared_unit(const std::string& unit) {
  const std::string base = difference_unit(unit);
  if (base.empty() || base == "1") return base;
  const bool is_one_name = std::all_of(base.begin(), base.end(), [](unsigned char letter) {
    return std::isalpha(letter) != 0 || letter == '_';
  });
  return is_one_name ? base + '2' : '(' + base + ")2";
}

ChangedText text_of(Statistic statistic, const io::DatasetText& input,
                    const std::vector<std::string>& reduced) {
  const StatisticRow& row = row_of(statistic);
  ChangedText text;
  if (row.prefix != nullptr) {
    text.emplace_back("standard_name", std::nullopt);
    if (input.long_name) text.emplace_back("long_name", row.prefix + *input.long_name);
  }
  if (input.units) {
    const std::string unit = unit_of(row.unit, *input.units);
    const bool is_other = row.unit == ResultUnit::squared || row.unit == ResultUnit::none;
    if (unit != *input.units || is_other) text.emplace_back("units", unit);
  }
  if (row.cell_method != nullptr) add_cell_method(row.cell_method, input, reduced, text);
  return text;
}

ChangedText quantile_text_of(double fraction, const io::DatasetText& input,
                             const std::vector<std::string>& reduced) {
  ChangedText text;
  if (fraction == 0.5)
    add_cell_method("median", input, reduced, text);
  else if (input.long_name)
    text.emplace_back("long_name", quantile_name(fraction) + " of " + *input.long_name);
  return text;
}

}  // namespace warpfold::pipeline
