#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/lane_slices.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/loader.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/wide_number.hpp"

/// The writer's paths for segments whose elements are not finite, spread beyond upper slices of
/// their window, or cancel.
namespace warpfold::cuda::kernels {

/// Returns the exclusive prefix of the warp's segment, exact and normalized.
template <int Vectors>
__device__ WarpSuperaccumulator prefix_of_segment(BlockMemory<Vectors>& shared,
                                                  std::uint32_t round) {
  const TilePrefix& tile_prefix = shared.tile_prefix[round % slot_rounds];
  WarpSuperaccumulator before{};
  if (tile_prefix.reopened)
    before = sum_of_segments(shared, round, warp::index());
  else if (tile_prefix.lacks_remainders())
    add_full_width_sums(before, shared, round, warp::index());
  if (tile_prefix.lacks_remainders())
    before.add(shared.ring.remainders(LookbackSpan{round, shared.ring.blocks}));
  before.add(tile_prefix.segment[warp::index()].sum, tile_prefix.top);
  if (tile_prefix.lacking != 0) before.add(tile_prefix.rest);
  before.normalize();
  return before;
}

/// Adds units of slice i of the lanes below.
__device__ inline void add_units_below(WindowSum& units, int i, std::int64_t own) {
  units.slice[i] += warp::inclusive_scan(own, warp::Plus{}) - own;
}

/// Adds the sums of the lanes below in three slices, as the summer stored them; the segment's
/// elements take `slices`.
template <int Vectors>
__device__ void add_lanes_of_sum(WindowSum& units, const SegmentMemory<Vectors>& memory,
                                 std::uint32_t slot, int top, int slices) {
  const double2 below = memory.lane_prefix[slot][warp::lane()];
  const double upper_bias = bias_of_unit(slice_unit(top, 0));
  const double lower_bias = bias_of_unit(slice_unit(top, 1));
  const double carry = (below.y + upper_bias) - upper_bias;
  units.slice[0] += units_of(upper_bias, upper_bias + (below.x + carry));
  units.slice[1] += units_of(lower_bias, lower_bias + (below.y - carry));
  if (slices > 2) add_units_below(units, 2, memory.lane_third_slice[slot][warp::lane()]);
}

/// Replaces the slot's elements by their prefixes, if `Count` slices below `top` hold the elements
/// and what is before them; tells whether the prefixes are certain. If there is `more` before, less
/// than a unit of the last of three slices, it counts as half a unit: any part of one rounds alike,
/// unless prefixes are small. If elements may be `cut`, the parts that three slices do not hold are
/// dropped: prefixes are rounded with all that may be missing added, and subtracted. `slices` is
/// what the summer needed in the window of `top`, 0 if it summed in another.
template <class In, class Out, int Count, bool cut = false>
__device__ __noinline__ bool write_segment_in_slices(std::uint32_t slot, int top,
                                                     const WindowSum& before, int slices, bool more,
                                                     const ScannedArray& array) {
  using Layout = SegmentLayout<In, Out>;
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  LaneSlices<In, Count> sum(top);
  WindowSum units = before;
  if (Count == 3 && slices != 0) {
    add_lanes_of_sum(units, memory, slot, top, slices);
  } else {
    std::uint64_t left = 0;
#pragma unroll 2
    for (int j = 0; j < Layout::in_vectors; ++j) {
      const auto elements = std::bit_cast<typename Layout::InElements>(
          memory.slot[slot].template blocked<Layout::in_vectors>(j));
#pragma unroll
      for (const auto element : elements.element)
        left |= std::bit_cast<std::uint64_t>(sum.add(Layout::Placed::of(element)));
    }
    if (!cut && warp::any(left << 1 != 0)) return false;
#pragma unroll
    for (int i = 0; i < Count; ++i) add_units_below(units, i, units_of(sum.bias(i), sum.biased[i]));
  }
  units.normalize();
  sum.set(units);
  const double last_bias = sum.bias(Count - 1);
  const double half = more ? (biased(last_bias, 1) - last_bias) / 2 : 0.0;
  // Half a unit of each element, and one of what is before them.
  const double most = biased(last_bias, Layout::segment_elements / 2 + 1) - last_bias;
  const OutputRounding<Out> rounding(array);
  const bool exclusive = array.exclusive;
  std::uint32_t lowest = ~0u;
  std::uint64_t differing = 0;
  const auto rounded = [&] {
    const double prefix = sum.template sum_for<Out>(cut ? most : half);
    const typename Layout::OutBits bits = rounding.bits_of(prefix);
    if constexpr (Count == 3) lowest = min(lowest, magnitude_word(prefix));
    if constexpr (cut) differing |= bits ^ rounding.bits_of(sum.template sum_for<Out>(-most));
    return bits;
  };
  // An exclusive prefix has the element before in the place of its own.
  typename Layout::InBits bits_before{};
  const auto prefix = [&](typename Layout::InBits bits) {
    sum.add(Layout::Placed::of(exclusive ? bits_before : bits));
    bits_before = bits;
    return rounded();
  };
  constexpr int at_once = 8 / Layout::in_count;
  replace_elements<In, Out, at_once>(memory.slot[slot], prefix);
  const int least = slice_unit(top, Count - 1) + output_bits<Out>;
  return !more || warp::all(differing == 0 && lowest >= power_word(max(least, -1022)));
}

/// Replaces each lane's number by the sum of `base` and the numbers of the lanes below.
template <int Digits>
__device__ void add_below(WideNumber<Digits>& number, const std::uint32_t* base) {
  std::uint64_t carry = 0;
#pragma unroll 1
  for (int i = 0; i < Digits; ++i) {
    const std::uint64_t own = number.digit[i];
    const std::uint64_t through = warp::inclusive_scan(own, warp::Plus{});
    carry += base[i] + (through - own);
    number.digit[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
}

/// Prefixes of so many bits round alike, whatever is more.
inline constexpr int enough_bits = 56;

/// Replaces the slot's elements, times 2^-scaled, by their prefixes in units of 2^unit; tells
/// whether they are right, else leaves the elements. What is before the first is in the scratch
/// digits and `flags`, and, where there is `more`, less than a unit. At full width, digits are
/// those of an ExactSum, which holds all.
template <class In, class Out, class Rounding, int Digits>
__device__ __noinline__ bool write_segment_in_digits(std::uint32_t slot, int unit, int scaled,
                                                     std::uint32_t flags, bool more,
                                                     const ScannedArray& array) {
  using Layout = SegmentLayout<In, Out>;
  constexpr bool holds_all = Digits == full_width_digits;
  if constexpr (holds_all) unit = least_unit;
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  const int placed_unit = unit - Layout::Placed::shift - scaled;
  WideNumber<Digits> number{};
  bool left = false;
  // Adds an element; returns its flag.
  const auto add = [&](typename Layout::InBits bits) {
    const double value = Layout::Placed::of(bits);
    const std::uint32_t flag = non_finite_flag<In>(value);
    number.add(flag == 0 ? value : 0.0, placed_unit);
    return flag;
  };
  std::uint32_t own_flags = 0;
  for_each_in_slot<Layout>(memory.slot[slot], [&](typename Layout::InBits bits, int) {
    if constexpr (!holds_all) left = left || has_bits_below(Layout::Placed::of(bits), placed_unit);
    own_flags |= add(bits);
  });
  if (!holds_all && warp::any(left)) return false;
  add_below(number, memory.scratch_digits);
  flags |= flags_below(own_flags);
  const Rounding rounding(array);
  LanePrefixes<Layout> prefixes;
  typename Layout::InBits bits_before{};
  std::uint32_t least = ~0u;
  for_each_in_slot<Layout>(memory.slot[slot], [&](typename Layout::InBits bits, int k) {
    flags |= add(array.exclusive ? bits_before : bits);
    bits_before = bits;
    const double value = (flags & any_non_finite) != 0
                             ? non_finite_sum(flags)
                             : number.rounded(rounding_towards<Out>, unit, !holds_all && more);
    least = min(least, magnitude_word(value));
    prefixes.element[k] = rounding.bits_of_any(value);
  });
  if (!holds_all && more && !warp::all(least >= power_word(max(unit + enough_bits, -1022))))
    return false;
  __syncwarp();
  store_prefixes<Layout>(memory.slot[slot], prefixes);
  return true;
}

/// Loads the slot's elements again, as the summer found them.
template <class In, class Out>
__device__ __noinline__ void reload_slot(const ScannedArray& array, std::uint32_t round,
                                         std::uint32_t tile) {
  using Layout = SegmentLayout<In, Out>;
  SegmentLoader<In, Out>(array).reload(round, tile);
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  if (memory.aggregate_of(round).scaled_by != 0)
    downscale<In, Layout>(memory.slot[round % slot_rounds]);
}

/// Replaces the slot's elements by their prefixes, where the upper slices of the window are not
/// enough: in three slices, in all, at last at full width. `overwritten` tells whether the slot no
/// longer has the elements.
template <class In, class Out>
__device__ __noinline__ void write_segment_slow_path(const ScannedArray& array, std::uint32_t round,
                                                     std::uint32_t tile_number, bool overwritten) {
  using Layout = SegmentLayout<In, Out>;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  auto& memory = shared.segment[warp::index()];
  const std::uint32_t slot = round % slot_rounds;
  if (overwritten) reload_slot<In, Out>(array, round, tile_number);
  const TilePrefix& tile_prefix = shared.tile_prefix[slot];
  const SegmentAggregate& aggregate = memory.aggregate_of(round);
  const std::uint32_t flags = tile_prefix.segment[warp::index()].flags;
  const int scaled = static_cast<int>(aggregate.scaled_by);
  const auto upscale_if_needed = [&] {
    __syncwarp();
    if (std::is_same_v<Out, double> && scaled != 0) upscale<Layout>(memory.slot[slot]);
  };
  if (((flags | aggregate.flags) & any_non_finite) == 0 && aggregate.slices <= window_slices &&
      aggregate.exponent <= tile_prefix.top - Layout::headroom &&
      scaled == (tile_prefix.top > largest_top ? downscale_exponent : 0)) {
    WindowSum before = tile_prefix.segment[warp::index()].sum;
    bool has_rest = tile_prefix.lacking != 0;
    if (tile_prefix.reopened || tile_prefix.lacks_remainders()) {
      WarpSuperaccumulator rest = prefix_of_segment(shared, round);
      before = rest.take(tile_prefix.top, memory.scratch_digits);
      has_rest = rest.any();
    }
    const int top = tile_prefix.top - scaled;
    bool written = false;
    if (aggregate.slices <= 3) {
      written = write_segment_in_slices<In, Out, 3>(slot, top, before,
                                                    tile_prefix.reopened ? 0 : aggregate.slices,
                                                    has_rest || before.any_below(2), array);
      if (!written) reload_slot<In, Out>(array, round, tile_number);
    }
    if (!written && !has_rest && aggregate.slices <= 4 && !before.any_below(3))
      written = write_segment_in_slices<In, Out, 4>(slot, top, before, 0, false, array);
    if (!written && !has_rest)
      written = write_segment_in_slices<In, Out, 5>(slot, top, before, 0, false, array);
    if (written) return upscale_if_needed();
  }
  WarpSuperaccumulator before = prefix_of_segment(shared, round);
  if constexpr (std::is_same_v<In, double>) {
    const int top =
        top_of_at_least(max(before.exponent() + 3, aggregate.exponent + Layout::headroom));
    // Scaled prefixes are right in doubles alone, where they do not round.
    const bool as_scaled = std::is_same_v<Out, double> || scaled == 0;
    if (flags == 0 && (aggregate.flags & (full_width_flag | remainder_flag)) != 0 &&
        top - scaled <= largest_top && as_scaled) {
      WarpSuperaccumulator rest = before;
      const WindowSum units = rest.take(top, memory.scratch_digits);
      if (write_segment_in_slices<In, Out, 3, true>(slot, top - scaled, units, 0, true, array))
        return upscale_if_needed();
      reload_slot<In, Out>(array, round, tile_number);
    }
  }
  before.store(memory.scratch_digits);
  __syncwarp();
  write_segment_in_digits<In, Out, OutputRounding<Out>, full_width_digits>(slot, least_unit, scaled,
                                                                           flags, false, array);
}

}  // namespace warpfold::cuda::kernels
