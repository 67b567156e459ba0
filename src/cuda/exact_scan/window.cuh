#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/wide_number.hpp"

/// The window of a tile: the bits in which its prefixes are computed, from an exponent, the top,
/// that the resolver chooses before the tile is summed. The summer finds which slices its elements
/// need.
namespace warpfold::cuda::kernels {

/// Slice 0 counts units of 2^(top - 51); a unit of each further slice is 2^-44 of one above.
inline constexpr int window_slices = 5;
inline constexpr int top_slice_bits = 51;
inline constexpr int slice_bits = 44;
inline constexpr std::int64_t slice_mask = (std::int64_t{1} << slice_bits) - 1;

__device__ constexpr int slice_unit(int top, int i) {
  return top - top_slice_bits - slice_bits * i;
}

/// Lowest tops: of a window whose two upper slices reach the least double, and of one all of whose
/// slices do.
inline constexpr int least_top = -1074 + top_slice_bits + slice_bits;
inline constexpr int least_full_top = 4 + (-1074 + top_slice_bits + 4 * slice_bits) / 4 * 4;
static_assert(least_full_top - top_slice_bits - 4 * slice_bits >= -1074);
static_assert(least_full_top - top_slice_bits - 4 * slice_bits >= -32 * ExactSum::low_limbs);

/// One slice of fewer bits may be enough: it holds elements below 2^exponent that are multiples of
/// 2^(exponent - one_slice_bits).
inline constexpr int one_slice_bits = 44;

/// Returns an exponent of at least this whose one slice is not far below the window's top.
__device__ inline int one_slice_exponent(int exponent, int top) { return max(exponent, top - 37); }

/// Less than all others.
inline constexpr int no_exponent = -4096;

/// Elements of higher windows are summed times 2^-downscale_exponent, so that slices do not
/// overflow.
inline constexpr int largest_top = 960;
inline constexpr int downscale_exponent = 128;

/// Returns a top of at least `exponent`, the same for similar exponents.
__device__ inline int top_of_at_least(int exponent) {
  if (exponent <= least_top) return least_top;
  return max((exponent + 3) & ~3, least_full_top);
}

/// A sum in the slices of a window: sum over i of slice[i] * 2^slice_unit(top, i).
struct WindowSum {
  std::int64_t slice[window_slices];

  __device__ void add(const WindowSum& other) {
#pragma unroll
    for (int i = 0; i < window_slices; ++i) slice[i] += other.slice[i];
  }

  /// Propagates carries: all but slice 0 end in [0, 2^44).
  __device__ void normalize() {
#pragma unroll
    for (int i = window_slices - 1; i > 0; --i) {
      slice[i - 1] += slice[i] >> slice_bits;
      slice[i] &= slice_mask;
    }
  }

  /// Returns whether it has bits below slice i.
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

/// A number in units of the last slice of a window.
inline constexpr int window_digits = 8;
using WindowNumber = WideNumber<window_digits>;

/// Returns a number's slices.
__device__ inline WindowSum slices_of(const WindowNumber& number) {
  WindowSum sum;
#pragma unroll
  for (int i = 0; i < window_slices; ++i) {
    const int bit = slice_bits * (window_slices - 1 - i);
    const int first = bit / 32;
    const std::uint32_t low =
        __funnelshift_r(number.digit[first], number.digit[first + 1], bit % 32);
    const std::uint32_t high =
        __funnelshift_r(number.digit[first + 1], number.digit[first + 2], bit % 32);
    const auto bits = static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
    sum.slice[i] = i == 0 ? bits : bits & slice_mask;
  }
  return sum;
}

/// Returns the sum of all lanes' values, of magnitudes up to 2^52. By a whole warp.
__device__ inline std::int64_t warp_sum_of_signed(std::int64_t value) {
  constexpr std::int64_t offset = std::int64_t{1} << 52;
  return static_cast<std::int64_t>(warp::sum(static_cast<std::uint64_t>(value + offset))) -
         warp::lanes * offset;
}

}  // namespace warpfold::cuda::kernels
