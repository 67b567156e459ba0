#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/element.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/loader.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/exact_scan/writer_slow_path.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/rounded_element.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/wide_number.hpp"

/// The slow path of the writer by integers, for elements that are not finite or spread widely and
/// for prefixes of many exponents.
namespace warpfold::cuda::kernels::integers {

/// Rounds to output elements by integers.
template <class Out>
class IntegerRounding {
 public:
  using Bits = typename PlacedFloat<Out>::Bits;

  __device__ explicit IntegerRounding(const ScannedArray& array) : format_(array.output_format) {}

  __device__ int fraction_bits() const {
    if constexpr (std::is_same_v<Out, AnyFloat16>)
      return static_cast<int>(20 - format_.dropped_bits);
    else
      return significand_bits<Out> - 1;
  }
  __device__ int bias() const {
    if constexpr (std::is_same_v<Out, AnyFloat16>)
      return (1 << (14 - fraction_bits())) - 1;
    else
      return (1 << (PlacedFloat<Out>::exponent_bits - 1)) - 1;
  }

  /// Rounds a sum in units of 2^unit, plus less than a unit if there is `more`. Sets `exponent` to
  /// that of its leading bit, or less than unit.
  __device__ Bits bits_of_units(int128 sum, int unit, bool more, int& exponent) const {
    const bool negative = sum < 0;
    const int128 flip = negative ? -1 : 0;
    const uint128 magnitude = static_cast<uint128>(sum ^ flip) + (negative && !more ? 1 : 0);
    const LeadingWords leading(magnitude);
    exponent = leading.any() ? unit + leading.exponent : no_exponent;
    // Two zeros before the leading bit: it can be dropped, and be less than half of what is kept.
    constexpr int word_bits = 8 * static_cast<int>(sizeof(Word));
    const Word word = leading.significand() >> 2;
    const int least = 1 - bias();
    const int dropped =
        min(word_bits - 3 - fraction_bits() + max(least - exponent, 0), word_bits - 1);
    const Word kept = word >> dropped;
    const Word rest = word << (word_bits - dropped);
    const bool odd = more || (kept & 1) != 0 || leading.any_below();
    const bool up = (rest | (odd ? 1 : 0)) > Word{1} << (word_bits - 1);
    const Word rounded =
        (static_cast<Word>(max(exponent, least) - least) << fraction_bits()) + kept + (up ? 1 : 0);
    const Word infinity = static_cast<Word>(2 * bias() + 1) << fraction_bits();
    const Word size = exponent > bias() ? infinity : rounded;
    return static_cast<Bits>(size | static_cast<Word>(negative) << (8 * sizeof(Bits) - 1));
  }

  /// Rounds a double, which is right in its last place or rounded to odd. NaN becomes the canonical
  /// one.
  __device__ Bits bits_of_any(double value) const {
    return rounded_bits<Bits>(value, fraction_bits(), bias());
  }

 private:
  using Word = std::conditional_t<std::is_same_v<Out, double>, std::uint64_t, std::uint32_t>;

  /// The words of a number from that of its leading bit on.
  struct LeadingWords {
    std::uint32_t word[4];  ///< the greatest first
    int exponent;           ///< exponent of the leading bit
    int zeros;              ///< zeros before it

    __device__ explicit LeadingWords(uint128 number) {
#pragma unroll
      for (int i = 0; i < 4; ++i) word[i] = static_cast<std::uint32_t>(number >> (96 - 32 * i));
      const int skipped = skip<2>((word[0] | word[1]) == 0) + skip<1>(word[0] == 0);
      zeros = leading_zeros(word[0]) - 32;
      exponent = 127 - skipped - zeros;
    }

    __device__ bool any() const { return word[0] != 0; }

    /// The leading bits.
    __device__ Word significand() const {
      const std::uint32_t high = __funnelshift_l(word[1], word[0], zeros);
      if constexpr (sizeof(Word) == 4)
        return high;
      else
        return std::uint64_t{high} << 32 | __funnelshift_l(word[2], word[1], zeros);
    }

    /// Returns whether there are bits below those, or among the last two.
    __device__ bool any_below() const {
      constexpr int last = sizeof(Word) / 4;
      std::uint32_t below = (__funnelshift_l(word[last], word[last - 1], zeros) & 3) |
                            __funnelshift_l(0, word[last], zeros);
#pragma unroll
      for (int i = last + 1; i < 4; ++i) below |= word[i];
      return below != 0;
    }

   private:
    template <int Words>
    __device__ int skip(bool skips) {
#pragma unroll
      for (int i = 0; i < 4; ++i) word[i] = skips ? (i + Words < 4 ? word[i + Words] : 0) : word[i];
      return skips ? 32 * Words : 0;
    }
  };

  Float16Format format_;
};

/// Stores a normalized sum as the digits of a WindowNumber. By the whole warp.
__device__ inline void store_digits(const WindowSum& sum, std::uint32_t* digits) {
  std::uint64_t carry = 0;
#pragma unroll
  for (int i = 0; i < window_digits; ++i) {
#pragma unroll
    for (int k = 0; k < window_slices; ++k)
      carry += digit_of(sum.slice[k], slice_bits * (window_slices - 1 - k), i);
    if (warp::lane() == 0) digits[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  __syncwarp();
}

/// Replaces the slot's elements, whose sums lane_units has, by their prefixes: sums of 128 bits in
/// its unit. Tells whether they are right. What is before the first is less than 2^126 units, and,
/// where there is `more`, less than a unit more.
template <class In, class Out>
__device__ __noinline__ bool write_segment_in_units(std::uint32_t slot, int unit, int128 before,
                                                    bool more, const ScannedArray& array) {
  using Layout = SegmentLayout<In, Out>;
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  WideSum<In> sum(unit);
  sum.sum = before + memory.lane_units[slot][warp::lane()];
  const IntegerRounding<Out> rounding(array);
  typename Layout::InBits bits_before{};
  int least = std::numeric_limits<int>::max();
  const auto prefix_after = [&](typename Layout::InBits bits) {
    sum.add(array.exclusive ? bits_before : bits);
    bits_before = bits;
    int exponent;
    const typename Layout::OutBits prefix = rounding.bits_of_units(sum.sum, unit, more, exponent);
    least = min(least, exponent);
    return prefix;
  };
  replace_elements<In, Out>(memory.slot[slot], prefix_after);
  return !more || warp::all(least >= unit + enough_bits);
}

/// Loads the slot's elements again, as the summer found them.
template <class In, class Out>
__device__ __noinline__ void reload_elements(const ScannedArray& array, std::uint32_t round,
                                             std::uint32_t tile) {
  using Layout = SegmentLayout<In, Out>;
  SegmentLoader<In, Out>(array).reload(round, tile);
}

/// Replaces the slot's elements by their prefixes, exactly: if it tries units, in those of lanes,
/// or else in the window, or at full width. `overwritten` tells whether the slot no longer has the
/// elements. Returns whether units were enough.
template <class In, class Out>
__device__ __noinline__ bool write_segment_exactly(const ScannedArray& array, std::uint32_t round,
                                                   std::uint32_t tile_number, bool overwritten,
                                                   bool tries_units) {
  using Layout = SegmentLayout<In, Out>;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  auto& memory = shared.segment[warp::index()];
  const std::uint32_t slot = round % slot_rounds;
  if (overwritten) reload_elements<In, Out>(array, round, tile_number);
  const TilePrefix& tile_prefix = shared.tile_prefix[slot];
  const SegmentAggregate& aggregate = memory.aggregate_of(round);
  const std::uint32_t flags = tile_prefix.segment[warp::index()].flags;
  const int lane_unit = aggregate.lane_unit;
  if (tries_units && lane_unit >= least_unit && !aggregate.lanes_are_cut &&
      (flags & any_non_finite) == 0 &&
      aggregate.exponent <= lane_unit + 126 - Layout::segment_bits) {
    int128 units;
    bool more;
    if (prefix_of_segment(shared, round).in_units(lane_unit, memory.scratch_digits, units, more)) {
      if (write_segment_in_units<In, Out>(slot, lane_unit, units, more, array)) return true;
      reload_elements<In, Out>(array, round, tile_number);
    }
  }
  if (((flags | aggregate.flags) & ~lower_slices_flag) == 0 &&
      aggregate.exponent <= tile_prefix.top - Layout::headroom) {
    WindowSum before = tile_prefix.segment[warp::index()].sum;
    bool more = tile_prefix.lacking != 0;
    if (tile_prefix.reopened || tile_prefix.lacks_remainders()) {
      WarpSuperaccumulator rest = prefix_of_segment(shared, round);
      before = rest.take(tile_prefix.top, memory.scratch_digits);
      more = rest.any();
    }
    store_digits(before, memory.scratch_digits);
    const int unit = slice_unit(tile_prefix.top, window_slices - 1);
    if (write_segment_in_digits<In, Out, IntegerRounding<Out>, window_digits>(slot, unit, 0, 0,
                                                                              more, array))
      return false;
  }
  const WarpSuperaccumulator before = prefix_of_segment(shared, round);
  before.store(memory.scratch_digits);
  __syncwarp();
  write_segment_in_digits<In, Out, IntegerRounding<Out>, full_width_digits>(slot, least_unit, 0,
                                                                            flags, false, array);
  return false;
}

}  // namespace warpfold::cuda::kernels::integers
