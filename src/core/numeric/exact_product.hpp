#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/numeric/double_pair.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// Products with magnitudes from 2^-900 to 2^1000 of factors up to 2^990 are exact as two doubles.
inline constexpr double least_product = 0x1p-900;
inline constexpr double largest_product = 0x1p1000;
inline constexpr double largest_factor = 0x1p990;

/// Returns whether product_of() is exact; not where a number is not finite.
WARPFOLD_HD inline bool is_exact_product(double a, double b) {
  const double size = fabs(a * b);
  return fabs(a) <= largest_factor && fabs(b) <= largest_factor && size <= largest_product &&
         (size >= least_product || a == 0.0 || b == 0.0);
}

WARPFOLD_HD inline DoublePair product_of(double a, double b) {
  const double product = a * b;
  return {product, fma(a, b, -product)};
}

/// Returns whether a double holds the number whatever its last bits: integers up to 2^53.
template <class Number>
WARPFOLD_HD bool fits_double(Number value) {
  if constexpr (std::is_integral_v<Number> && sizeof(Number) == sizeof(double)) {
    constexpr auto exact = Number{1} << std::numeric_limits<double>::digits;
    if constexpr (std::is_signed_v<Number>) return value <= exact && value >= -exact;
    return value <= exact;
  } else {
    return true;
  }
}

}  // namespace warpfold
