#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/quantile.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Which quantiles are wanted.
struct QuantileSpec {
  std::vector<double> fractions;  ///< 0 to 1
  QuantileMethod method = QuantileMethod::linear;
  NanPolicy nan = NanPolicy::propagate;
  std::uint64_t min_count = 0;  ///< quantiles of fewer elements are missing, as those of none
};

/// The quantiles of each output along axes.
struct LineQuantileSpec {
  QuantileSpec quantiles;
  Value empty;       ///< a quantile of no elements; NaN where nothing
  ElementType type;  ///< floats, or the values' where quantiles are elements
};

/// Returns whether quantiles by a method are elements, whichever these are.
bool gives_elements(QuantileMethod method);

/// Returns the shortest name of a quantile: "median", "q05" where it is a whole number of percent,
/// or "q0.999".
std::string quantile_name(double fraction);

/// The elements between which a quantile lies: how many are before each once all are sorted.
struct QuantileNeighbours {
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  double weight = 0;  ///< weight of the upper one: 0 if both are the same, otherwise less than 1
};

/// Returns those of the quantile `fraction`, 0 to 1, of `count` elements, one or more, as
/// numpy.quantile() has them of an array of doubles.
WARPFOLD_HD inline QuantileNeighbours quantile_neighbours(double fraction, QuantileMethod method,
                                                          std::uint64_t count) {
  const std::uint64_t last = count - 1;
  const double place = static_cast<double>(last) * fraction;
  const double lower = std::floor(place);
  double first = lower;
  if (method == QuantileMethod::higher) first = std::ceil(place);
  if (method == QuantileMethod::nearest) first = std::nearbyint(place);
  const auto element = static_cast<std::uint64_t>(first);
  QuantileNeighbours between{element < last ? element : last, element < last ? element : last, 0};
  const bool interpolates = method == QuantileMethod::linear || method == QuantileMethod::midpoint;
  if (!interpolates || place == lower || between.lower == last) return between;
  between.upper = between.lower + 1;
  between.weight = method == QuantileMethod::midpoint ? 0.5 : place - lower;
  return between;
}

/// Returns what numpy.quantile() makes of two neighbours (doubles or integers): one of them as it
/// is, or a double; where their distance is beyond all doubles, their weighted mean.
Value quantile_between(const Value& lower, const Value& upper, double weight);

}  // namespace warpfold
