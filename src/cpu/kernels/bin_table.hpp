#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpfold::cpu {

/// What an element of type T is compared as: as a double if that is exact.
template <class T>
using Limit = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, T, double>;

/// Limits between regions of numbers, found by cells of equal width: an element's cell, computed
/// with rounding that keeps the order, tells all but the limits in that very cell.
template <class L>
struct BinTable {
  double origin;
  double scale;  ///< cells in a unit; 0 where one cell is all there is
  double last_cell;
  const L* limits;              ///< rising, `count` of them
  const std::uint32_t* passed;  ///< by cell, one more than there are: limits in lower cells
  std::uint32_t count;
  std::uint32_t max_in_cell;
};

}  // namespace warpfold::cpu
