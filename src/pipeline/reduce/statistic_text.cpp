#include "pipeline/reduce/statistic_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/base/text.hpp"
#include "core/results/quantile.hpp"

namespace warpfold::pipeline {
namespace {

struct Words {
  const char* method = nullptr;  ///< CF's name of it in `cell_methods`
  const char* of = nullptr;      ///< before the input's long_name, where that alone is false
  bool has_unit = true;          ///< the elements' own
};

Words words_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::sum:
      return {"sum"};
    case Statistic::mean:
      return {"mean"};
    case Statistic::min:
      return {"minimum"};
    case Statistic::max:
      return {"maximum"};
    case Statistic::std:
      return {"standard_deviation"};
    case Statistic::linf:
      return {"maximum_absolute_value"};
    case Statistic::var:
      return {"variance", "variance of ", false};
    case Statistic::l1:
      return {nullptr, "sum of absolute values of "};
    case Statistic::l2:
      return {nullptr, "root of the sum of squares of "};
    case Statistic::count:
      return {nullptr, "number of values of ", false};
    case Statistic::nan_count:
      return {nullptr, "number of NaN in ", false};
    case Statistic::inf_count:
      return {nullptr, "number of infinities in ", false};
    case Statistic::sum_of_weights:
      return {nullptr, "sum of weights of ", false};
    case Statistic::argmin:
      return {nullptr, "index of the minimum of ", false};
    case Statistic::argmax:
      return {nullptr, "index of the maximum of ", false};
  }
  return {};
}

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

std::string unit_of(Statistic statistic, const std::string& unit) {
  if (statistic == Statistic::var) return squared_unit(unit);
  if (statistic == Statistic::std) return difference_unit(unit);
  return words_of(statistic).has_unit ? unit : "1";
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
  const Words words = words_of(statistic);
  ChangedText text;
  if (words.of != nullptr) {
    text.emplace_back("standard_name", std::nullopt);
    if (input.long_name) text.emplace_back("long_name", words.of + *input.long_name);
  }
  if (input.units) {
    const std::string unit = unit_of(statistic, *input.units);
    if (unit != *input.units || !words.has_unit) text.emplace_back("units", unit);
  }
  if (words.method != nullptr) add_cell_method(words.method, input, reduced, text);
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
