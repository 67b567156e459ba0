#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// In place of the factor of an element that is left out: a NaN that is not the canonical one.
inline constexpr std::uint64_t no_factor_bits =
    std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()) + 1;
inline const double no_factor = std::bit_cast<double>(no_factor_bits);

/// Factors of elements by their flat indices: the element at index i is multiplied by number
/// i / stride % period of the values, or left out where that is no_factor. The values are
/// another's.
struct Factors {
  const double* values = nullptr;
  std::uint64_t stride = 1;
  std::uint64_t period = 0;  ///< values; 0: elements are taken as they are
  bool are_weights = false;  ///< and then finite, none negative

  WARPFOLD_HD bool any() const { return period != 0; }

  /// Returns the factor of the element at a flat index.
  WARPFOLD_HD double operator()(std::uint64_t index) const {
    return values[index / stride % period];
  }

  /// Tells whether the element that has this factor is left out.
  WARPFOLD_HD bool leaves_out(double factor) const {
    return std::bit_cast<std::uint64_t>(factor) == no_factor_bits || (are_weights && factor == 0.0);
  }
};

}  // namespace warpfold
