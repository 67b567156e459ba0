#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/exact_scan/element.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/summer.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/wide_number.hpp"

/// Sums by integers, without FP64 arithmetic.
namespace warpfold::cuda::kernels::integers {

/// Returns a placed element's bits below 2^unit.
__device__ inline ScaledInteger bits_below(double placed, int unit) {
  ScaledInteger number = scaled_integer(placed);
  const int bits = unit - number.exponent;
  if (bits < 64) number.magnitude &= bits > 0 ? (std::uint64_t{1} << bits) - 1 : 0;
  return number;
}

/// Sums the slot's elements where the window, if it holds the `upper` parts, does not hold all.
template <class In, class Out>
__device__ __noinline__ void sum_out_of_window(std::uint32_t round, bool finite, bool upper) {
  using Layout = SegmentLayout<In, Out>;
  const int top = BlockMemoryOf<Layout>::own().window_top[round % window_rounds];
  const int unit = slice_unit(top, window_slices - 1) - Layout::Placed::shift;
  store_out_of_window<In, Out>(round, finite, upper, [&] {
    return sum_of_parts<In, Out>(round, Layout::Placed::shift, [&](typename Layout::InBits bits) {
      const double placed = Layout::Placed::of(bits);
      return upper ? bits_below(placed, unit) : scaled_integer(placed);
    });
  });
}

/// Sums the slot's elements in all slices of the window of `top`; tells whether it holds them. Sets
/// `greatest` to the greatest of PlacedFloat's words.
template <class In, class Out>
__device__ __noinline__ bool sum_in_window(std::uint32_t round, int top, std::uint32_t& greatest) {
  using Layout = SegmentLayout<In, Out>;
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  const int unit = slice_unit(top, window_slices - 1) - Layout::Placed::shift;
  WindowNumber number{};
  std::uint32_t own = 0;
  bool left = false;
  for_each_in_slot<Layout>(memory.slot[round % slot_rounds],
                           [&](typename Layout::InBits bits, int) {
                             const double placed = Layout::Placed::of(bits);
                             own = max(own, Layout::Placed::word(bits));
                             left = left || has_bits_below(placed, unit);
                             number.add(placed, unit);
                           });
  greatest = warp::maximum(own);
  std::uint64_t carry = 0;
#pragma unroll
  for (std::uint32_t& digit : number.digit) {
    carry += warp::sum(digit);
    digit = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  __syncwarp();
  if (warp::lane() == 0) memory.aggregate_of(round).sum = slices_of(number);
  return !warp::any(left);
}

/// The summer: finds the aggregate of its warp's segments. By the whole warp.
template <class In, class Out>
class SegmentSummer {
 public:
  using Layout = SegmentLayout<In, Out>;

  __device__ SegmentSummer()
      : shared_(BlockMemoryOf<Layout>::own()), memory_(shared_.segment[warp::index()]) {}

  __device__ void find_first_exponent() { exponent_ = store_first_exponent<In, Out>(); }

  /// Sums the segment of the round's tile, which is loaded.
  __device__ void sum(std::uint32_t round) {
    const int top = shared_.window_top[round % window_rounds];
    std::uint32_t greatest = 0;
    int unit = no_unit;
    bool summed = false;
    if (narrow_fails_ < 2 || round % 32 == 0) {
      int most = exponent_ + 1;
#pragma unroll 1
      for (int i = 0; i < 2 && !summed; ++i) {
        const int first = first_field(most, top);
        unit = Narrow::unit(first);
        summed = first == 1 ? sum_narrowly<true>(round, top, first, greatest)
                            : sum_narrowly<false>(round, top, first, greatest);
        const int exponent = Summed::exponent_above(greatest);
        if (exponent <= most) break;
        most = exponent;
      }
      narrow_fails_ = summed ? 0 : narrow_fails_ + 1;
    }
    bool cut = false;
    if (!summed) {
      unit = no_unit;
      if (wide_fails_ < 2 || round % 32 == 0) {
        const bool fits = sum_widely(round, top, top - wide_bits, greatest, cut);
        wide_fails_ = fits ? 0 : wide_fails_ + 1;
        if (fits) unit = top - wide_bits;
        summed = fits && !cut;
      }
      if (!summed) summed = sum_in_window<In, Out>(round, top, greatest);
    }
    exponent_ = Summed::exponent_above(greatest);
    const bool finite = greatest < Placed::non_finite_word;
    if (warp::lane() == 0) {
      SegmentAggregate& aggregate = memory_.aggregate_of(round);
      aggregate.exponent = exponent_;
      aggregate.flags = 0;
      aggregate.lane_unit = finite ? unit : no_unit;
      aggregate.lanes_are_cut = cut;
    }
    const bool upper = finite && exponent_ <= top - Layout::headroom;
    if (!summed || !upper) sum_out_of_window<In, Out>(round, finite, upper);
  }

 private:
  using Summed = typename Layout::Summed;
  using Placed = typename Layout::Placed;
  using InBits = typename Layout::InBits;
  using Parts = ElementParts<In>;
  using Narrow = NarrowSum<In>;
  static_assert(Layout::lane_elements <= (Parts::is_double ? 16 : 32));

  /// The unit of a WideSum is so far below the window's top: it holds what windows are chosen for.
  static constexpr int wide_bits = 127 + Layout::headroom + 2 - Layout::segment_bits;

  /// Returns the first field of a narrow sum of elements below 2^most, in the window of `top`.
  __device__ static int first_field(int most, int top) {
    const int in_window = slice_unit(top, window_slices - 1) + Parts::bias + Parts::fraction_bits;
    return max(max(most + Parts::bias - Narrow::orders, in_window), 1);
  }

  /// Calls add(element) for the lane's elements.
  template <class Add>
  __device__ void for_each_element(std::uint32_t round, Add add) const {
    uint4 vectors[Layout::in_vectors];
#pragma unroll
    for (int j = 0; j < Layout::in_vectors; ++j)
      vectors[j] = memory_.slot[round % slot_rounds].template blocked<Layout::in_vectors>(j);
#pragma unroll
    for (int j = 0; j < Layout::in_vectors; ++j) {
      const auto elements = std::bit_cast<typename Layout::InElements>(vectors[j]);
#pragma unroll
      for (const InBits element : elements.element) add(element);
    }
  }

  /// Stores the sum of the lanes below, and the sum of all in the window of `top`.
  __device__ void store(std::uint32_t round, int top, int unit, int128 below, int128 through) {
    memory_.lane_units[round % slot_rounds][warp::lane()] = below;
    const int128 total = warp::shuffle(through, warp::lanes - 1);
    // Lane i stores slice i.
    if (warp::lane() >= window_slices) return;
    const int up = unit - slice_unit(top, warp::lane());
    const auto units =
        static_cast<std::int64_t>(up >= 0 ? total << min(up, 127) : total >> min(-up, 127));
    memory_.aggregate_of(round).sum.slice[warp::lane()] =
        warp::lane() == 0 ? units : units & slice_mask;
  }

  /// Sums narrowly; tells whether that holds the elements.
  template <bool Lowest>
  __device__ bool sum_narrowly(std::uint32_t round, int top, int first, std::uint32_t& greatest) {
    Narrow sum(first);
    for_each_element(round, [&](InBits element) { sum.template add<Lowest>(element); });
    greatest = Parts::placed_word(warp::maximum(sum.greatest));
    if (warp::any(sum.left != 0) ||
        Summed::exponent_above(greatest) > first + Narrow::orders - Parts::bias)
      return false;
    sum.carry();
    const std::int64_t low = warp::inclusive_scan(sum.low, warp::Plus{});
    const std::int64_t high = Parts::is_double ? warp::inclusive_scan(sum.high, warp::Plus{}) : 0;
    store(round, top, Narrow::unit(first), Narrow::value(low - sum.low, high - sum.high),
          Narrow::value(low, high));
    return true;
  }

  /// Sums widely; tells whether that holds the upper parts of elements. Sets `cut` to whether it
  /// drops lower ones.
  __device__ bool sum_widely(std::uint32_t round, int top, int unit, std::uint32_t& greatest,
                             bool& cut) {
    WideSum<In> sum(unit);
    for_each_element(round, [&](InBits element) { sum.add(element); });
    greatest = Parts::placed_word(warp::maximum(sum.greatest));
    cut = warp::any(sum.left != 0);
    if (Summed::exponent_above(greatest) > unit + 127 - Layout::segment_bits) return false;
    const int128 through = warp::inclusive_scan(sum.sum, warp::Plus{});
    store(round, top, unit, through - sum.sum, through);
    return true;
  }

  BlockMemoryOf<Layout>& shared_;
  SegmentMemory<Layout::vectors>& memory_;
  int exponent_ = 0;      ///< above the last segment's elements
  int narrow_fails_ = 0;  ///< segments in a row that took no narrow sum
  int wide_fails_ = 0;    ///< segments in a row whose upper parts took no wide one either
};

}  // namespace warpfold::cuda::kernels::integers
