#pragma once

#include <cstdint>

namespace warpfold {

/// Factors of elements by their flat indices: the element at index i is multiplied by number
/// i / stride % period of the values, or left out where that is the left_out_mark. The values are
/// another's.
struct Factors {
  const double* values = nullptr;
  std::uint64_t stride = 1;
  std::uint64_t period = 0;  ///< values; 0: elements are taken as they are
  bool are_weights = false;  ///< and then finite, none negative

  bool any() const { return period != 0; }
};

}  // namespace warpfold
