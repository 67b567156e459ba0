#pragma once

#include <cstdint>
#include <limits>

#include "warpfold/core/host_device.hpp"

/// Elements are scanned tile by tile.
namespace warpfold::scan_order {

inline constexpr int tile_elements = 4096;

/// The specials of a tile tell where each kind of non-finite element first comes: its index in the
/// tile, -1 if one came before the tile, tile_elements if none did up to its end. Non-finite
/// elements themselves count as 0 in the sums.
struct TileSpecials {
  std::int32_t nan;
  std::int32_t positive_infinity;
  std::int32_t negative_infinity;

  WARPFOLD_HD bool any() const {
    return nan < tile_elements || positive_infinity < tile_elements ||
           negative_infinity < tile_elements;
  }
};

/// Returns the sum of everything before the tile and of its first `seen` elements, given the
/// rounded sum of the finite ones among them.
WARPFOLD_HD inline double with_specials(double finite, TileSpecials first, std::int32_t seen) {
  const bool nan = first.nan < seen;
  const bool positive = first.positive_infinity < seen;
  const bool negative = first.negative_infinity < seen;
  if (nan || (positive && negative)) return std::numeric_limits<double>::quiet_NaN();
  if (positive) return std::numeric_limits<double>::infinity();
  if (negative) return -std::numeric_limits<double>::infinity();
  return finite;
}

}  // namespace warpfold::scan_order
