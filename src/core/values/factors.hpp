#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace warpfold {

/// In place of the factor of an element that is left out: a NaN that is not the canonical one.
inline const double no_factor = std::bit_cast<double>(
    std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()) + 1);

/// Factors of elements by their flat indices: the element at index i is multiplied by number
/// i / stride % period of the values, or left out where that is no_factor. The values are
/// another's.
struct Factors {
  const double* values = nullptr;
  std::uint64_t stride = 1;
  std::uint64_t period = 0;  ///< values; 0: elements are taken as they are
  bool are_weights = false;  ///< and then finite, none negative

  bool any() const { return period != 0; }
};

}  // namespace warpfold
