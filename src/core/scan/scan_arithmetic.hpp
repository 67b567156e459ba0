#pragma once

#include <cstdint>
#include <limits>

#include "core/numeric/double_pair.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/scan_operation.hpp"

/// The fixed order of additions of a floating-point prefix sum is the same on every machine.
///
/// The flat index space is taken apart into tiles; element e of a tile is (segment, row, lane, k)
/// with e = ((segment * tile_rows + row) * tile_lanes + lane) * lane_elements + k. With x scaled by
/// TileScale::down and `+` the addition of the inner type (DoublePair or double):
///
///   t[k]     = t[k-1] + x[k], t[0] = x[0], in each lane of a row;
///   I[lane]  = the inclusive Kogge-Stone scan of the lanes' t[3]: for d = 1, 2, 4, 8, 16 each lane
///              >= d takes I[lane - d] + I[lane]; L[lane] = I[lane - 1], L[0] = 0;
///   R[row]   = R[row-1] + I[31] of row-1, R[0] = 0; a segment's total is R after its last row;
///   S[seg]   = S[seg-1] + total of seg-1, S[0] = 0;
///   out      = rounded_prefix(lane_base(base, S, R, L), t[k]) for an inclusive scan,
///              rounded_prefix(lane_base(base, S, R, L), t[k-1]), t[-1] = 0, for an exclusive one,
///
/// where `base` is the exact sum of all elements before the tile, ExactSum::rounded_pair(scale).
namespace warpfold::scan_order {

inline constexpr int tile_segments = 8;
inline constexpr int tile_rows = 4;
inline constexpr int tile_lanes = 32;
inline constexpr int lane_elements = 4;
inline constexpr int row_elements = tile_lanes * lane_elements;
inline constexpr int segment_elements = tile_rows * row_elements;
inline constexpr int tile_elements = tile_segments * segment_elements;
static_assert(tile_elements == scan_tile_elements);

/// Tells whether prefixes are summed as pairs of doubles (or in plain double).
constexpr bool sums_in_pairs(ElementType input, ElementType output) {
  return input == ElementType::f64 || output == ElementType::f64;
}

WARPFOLD_HD inline double inner_zero(double) { return 0.0; }
WARPFOLD_HD inline DoublePair inner_zero(DoublePair) { return {0.0, 0.0}; }

WARPFOLD_HD inline double inner_add(double a, double b) { return a + b; }
WARPFOLD_HD inline DoublePair inner_add(DoublePair a, DoublePair b) { return add(a, b); }
WARPFOLD_HD inline DoublePair inner_add(DoublePair a, double b) { return add(a, b); }

WARPFOLD_HD inline void inner_set(double& inner, double x) { inner = x; }
WARPFOLD_HD inline void inner_set(DoublePair& inner, double x) { inner = {x, 0.0}; }

/// A lane base is what a lane's elements start from. For plain doubles it stays a pair beside the
/// offset.
template <class Inner>
struct LaneBase;

template <>
struct LaneBase<DoublePair> {
  DoublePair base;
};

template <>
struct LaneBase<double> {
  DoublePair base;
  double offset;
};

WARPFOLD_HD inline LaneBase<DoublePair> lane_base(DoublePair base, DoublePair segment,
                                                  DoublePair row, DoublePair lane) {
  return {add(add(add(base, segment), row), lane)};
}

WARPFOLD_HD inline LaneBase<double> lane_base(DoublePair base, double segment, double row,
                                              double lane) {
  return {base, (segment + row) + lane};
}

WARPFOLD_HD inline double rounded_prefix(LaneBase<DoublePair> lane, DoublePair inner) {
  return add(lane.base, inner).high;
}

WARPFOLD_HD inline double rounded_prefix(LaneBase<double> lane, double inner) {
  const DoublePair sum = two_sum(lane.base.high, lane.offset + inner);
  return sum.high + (sum.low + lane.base.low);
}

/// Keeps the sums of a tile with huge elements, or a huge base, within the range of double:
/// elements and base are scaled by 2^exponent and the rounded prefix is scaled back.
struct TileScale {
  int exponent;  ///< 0 or -128
  double down;
  double up;
};

inline constexpr double huge = 0x1p960;

WARPFOLD_HD inline TileScale tile_scale(bool any_huge) {
  if (any_huge) return {-128, 0x1p-128, 0x1p128};
  return {0, 1.0, 1.0};
}

/// The specials of a tile tell where each kind of non-finite element first comes: its index in the
/// tile, -1 if one came before the tile, tile_elements if none did up to its end. Non-finite
/// elements themselves count as 0 in the sums.
struct TileSpecials {
  std::int32_t nan;
  std::int32_t positive_infinity;
  std::int32_t negative_infinity;
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
