#include "core/results/quantile.hpp"

#include <charconv>
#include <variant>

#include "core/values/value_element.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {
namespace {

/// Returns upper - lower, rounded once.
double distance(const Value& lower, const Value& upper) {
  if (const auto* integer = std::get_if<int128>(&lower))
    return static_cast<double>(std::get<int128>(upper) - *integer);
  return std::get<double>(upper) - std::get<double>(lower);
}

}  // namespace

bool gives_elements(QuantileMethod method) {
  return method != QuantileMethod::linear && method != QuantileMethod::midpoint;
}

std::string quantile_name(double fraction) {
  if (fraction == 0.5) return "median";
  const auto percent = std::lround(fraction * 100);
  if (percent < 100 && static_cast<double>(percent) / 100 == fraction)
    return (percent < 10 ? "q0" : "q") + std::to_string(percent);
  // Fixed notation of any double that is not negative and at most 1.
  char digits[1100];
  const auto end =
      std::to_chars(digits, digits + sizeof(digits), fraction, std::chars_format::fixed).ptr;
  const std::string name = 'q' + std::string(digits, end);
  return fraction == 1 ? name + ".0" : name;
}

Value quantile_between(const Value& lower, const Value& upper, double weight) {
  if (weight == 0 || lower == upper) return lower;
  const double from = element_of<double>(lower);
  const double to = element_of<double>(upper);
  const double width = distance(lower, upper);
  if (!std::isfinite(width)) return from * (1 - weight) + to * weight;
  return weight < 0.5 ? from + width * weight : to - width * (1 - weight);
}

}  // namespace warpfold
