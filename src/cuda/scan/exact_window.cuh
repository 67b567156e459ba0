#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/slices.hpp"

/// The window of a tile: the bits in which its prefixes are computed. Its top, an exponent, is
/// chosen before the tile is read; what its slices do not hold is found out on reading.
namespace warpfold::cuda::kernels {

/// Slice 0 counts units of 2^(top - 51), and each further one units of which 2^44 make one of the
/// slice above.
inline constexpr int window_slices = 5;
inline constexpr int lead_bits = 51;
inline constexpr int slice_bits = 44;
inline constexpr std::int64_t slice_mask = (std::int64_t{1} << slice_bits) - 1;

__device__ constexpr int slice_unit(int top, int i) { return top - lead_bits - slice_bits * i; }

/// Two slices reach down to the least double, or all of them do no further.
inline constexpr int least_top = -1074 + lead_bits + slice_bits;
inline constexpr int least_full_top = 4 + (-1074 + lead_bits + 4 * slice_bits) / 4 * 4;
static_assert(least_full_top - lead_bits - 4 * slice_bits >= -1074);
static_assert(least_full_top - lead_bits - 4 * slice_bits >= -32 * ExactSum::low_limbs);

/// Less than all others.
inline constexpr int no_exponent = -4096;

/// Elements of windows above are summed times 2^-scaled_by, so that their slices have a bias.
inline constexpr int largest_top = 960;
inline constexpr int scaled_by = 128;

/// Returns a top of at least `exponent`, the same for similar exponents.
__device__ inline int top_of_at_least(int exponent) {
  if (exponent <= least_top) return least_top;
  return max((exponent + 3) & ~3, least_full_top);
}

/// A number as multiples of its slices' units.
struct WindowUnits {
  std::int64_t slice[window_slices];

  __device__ void add(const WindowUnits& other) {
#pragma unroll
    for (int i = 0; i < window_slices; ++i) slice[i] += other.slice[i];
  }

  /// Leaves all but slice 0 in [0, 2^44).
  __device__ void normalize() {
#pragma unroll
    for (int i = window_slices - 1; i > 0; --i) {
      slice[i - 1] += slice[i] >> slice_bits;
      slice[i] &= slice_mask;
    }
  }

  /// Whether it has bits below slice i.
  __device__ bool any_below(int i) const {
    std::int64_t any = 0;
#pragma unroll
    for (int k = 1; k < window_slices; ++k) any |= k > i ? slice[k] : 0;
    return any != 0;
  }

  /// Returns the exponent of a power of two above a normalized number, or that of slice 0's unit.
  __device__ int exponent(int top) const {
    const std::int64_t magnitude = slice[0] ^ (slice[0] >> 63);
    return slice_unit(top, 0) + 64 - leading_zeros(static_cast<std::uint64_t>(magnitude));
  }
};

}  // namespace warpfold::cuda::kernels
