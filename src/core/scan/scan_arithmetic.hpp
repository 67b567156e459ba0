#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/numeric/double_pair.hpp"
#include "core/numeric/slices.hpp"
#include "warpfold/core/host_device.hpp"

/// How prefix sums of floating-point elements are computed, tile by tile: each is the exact sum of
/// the elements, rounded once.
///
/// A tile's elements are summed exactly in slices; a prefix is what is before the tile plus what
/// the slices hold, with all that may be missing added, and subtracted. Where both round to the
/// same number, so does the exact prefix between them. Tiles for which that does not settle all
/// prefixes are summed in exact arithmetic of full width.
namespace warpfold::scan_order {

inline constexpr int tile_segments = 8;
inline constexpr int tile_rows = 4;
inline constexpr int tile_lanes = 32;
inline constexpr int lane_elements = 4;
inline constexpr int row_elements = tile_lanes * lane_elements;
inline constexpr int segment_elements = tile_rows * row_elements;
inline constexpr int tile_elements = tile_segments * segment_elements;

/// Tiles with elements from here on, or after a sum from here on, are summed in full width.
inline constexpr double huge = 0x1p960;

using TileSlices = Slices<2>;
static_assert(tile_elements <= TileSlices::max_addends);

/// The sum of all finite elements before a tile.
struct TileBase {
  DoublePair sum;          ///< rounded
  std::int32_t least_bit;  ///< of the sum before rounding, as of FixedPoint::least_bit()
};

/// What slices make of a tile's elements.
struct SliceUse {
  bool second;     ///< whether the first slice leaves some of them to the second
  bool left_over;  ///< whether the second leaves anything

  friend bool operator==(SliceUse, SliceUse) = default;
};

/// Bounds what a prefix may be off by that is computed from a base's pair and two slices of
/// elements below m = 2^exponent: the upper halves added by two_sum(), what that leaves added to
/// the lower halves, and the bound itself, in up to five roundings.
///
/// The pair is within 2^-106 |base| of the base. Each rounding is of a number below 2^-51 |base| +
/// 2^-25 m and loses at most 2^-53 of it; all of them together stay below 2^-98 |base| + 2^-74 m.
/// What the slices leave over is at most 2^-80 m of each of 2^12 elements.
///
/// Where nothing is left over and everything is a multiple of a slice's unit u, nothing is lost:
/// the pair holds a base below 2^104 u, its lower half is below 2^50 u, what two_sum() leaves and
/// the second slice are below 2^51 u, so that they add up exactly.
WARPFOLD_HD inline double error_bound(const TileBase& base, int exponent, SliceUse use) {
  const TileSlices slices(exponent);
  const int base_exponent = exponent_above(magnitude_word(base.sum.high));
  const auto holds_base = [&](int unit) {
    return base.least_bit >= unit && base_exponent <= unit + 104;
  };
  if (!use.left_over && (holds_base(slices.unit(1)) || (!use.second && holds_base(slices.unit(0)))))
    return 0.0;
  const int lost = slices.exponent() - (use.left_over ? 67 : 74);
  const std::uint32_t word = power_word(lost > -1022 ? lost : -1022);
  const double size = base.sum.high < 0.0 ? -base.sum.high : base.sum.high;
  return size * 0x1p-98 + std::bit_cast<double>(std::uint64_t{word} << 32);
}

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
