#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/double_pair.hpp"
#include "core/numeric/slices.hpp"
#include "core/scan/scan_arithmetic.hpp"

/// How the host computes prefix sums of floats: each is the exact sum of the elements, rounded
/// once.
///
/// A tile's elements are summed exactly in slices; a prefix is what is before the tile plus what
/// the slices hold, with all that may be missing added, and subtracted. Where both round to the
/// same number, so does the exact prefix between them. Tiles for which that does not settle all
/// prefixes are summed in exact arithmetic of full width.
namespace warpfold::cpu {

/// Tiles with elements from here on, or after a sum from here on, are summed in full width.
inline constexpr double huge = 0x1p960;

using TileSlices = Slices<2>;
static_assert(scan_order::tile_elements <= TileSlices::max_addends);

/// The sum of all finite elements before a tile.
struct TileBase {
  DoublePair sum;          ///< rounded
  std::int32_t least_bit;  ///< least bit of the sum before rounding, as FixedPoint::least_bit()
};

/// How a tile's elements use the two slices.
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
/// Elements lose at most 2^-80 m each to the slices, and there are at most 2^12 of them.
///
/// If nothing is left over and everything is a multiple of a slice's unit u, nothing is lost: the
/// pair holds a base below 2^104 u, its lower half is below 2^50 u, the rest of two_sum() and the
/// second slice are below 2^51 u, so that they add up exactly.
inline double error_bound(const TileBase& base, int exponent, SliceUse use) {
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

}  // namespace warpfold::cpu
