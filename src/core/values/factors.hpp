#pragma once

#include <cstdint>

#include "core/values/left_out_mark.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// Factors of elements by their flat indices: the element at index i is multiplied by number
/// i / stride % period of the values, or left out where that is the left_out_mark. The values are
/// another's.
struct Factors {
  const double* values = nullptr;
  std::uint64_t stride = 1;
  std::uint64_t period = 0;  ///< values; 0: elements are taken as they are
  bool are_weights = false;  ///< and then finite, none negative
  /// Additional terms of the values, for 64-bit integers with more bits than a double: less than
  /// 2^11, of the value's sign; null where all are 0.
  const double* rests = nullptr;

  WARPFOLD_HD bool any() const { return period != 0; }

  /// Returns the factor of the element at a flat index.
  WARPFOLD_HD double operator()(std::uint64_t index) const {
    return values[index / stride % period];
  }

  /// Returns the factors that are only what is to be added.
  Factors of_rests() const { return {rests, stride, period, are_weights}; }

  /// Returns whether the element that has this factor is left out.
  WARPFOLD_HD bool leaves_out(double factor) const {
    return is_left_out_mark(factor) || (are_weights && factor == 0.0);
  }
};

}  // namespace warpfold
