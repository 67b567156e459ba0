#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/primitives/wide_number.hpp"
#include "cuda/scan/exact_elements.cuh"
#include "cuda/scan/exact_segment_port.cuh"
#include "cuda/scan/exact_shape.cuh"

/// What segments take whose elements are not finite, spread beyond their window's slices, or
/// cancel.
namespace warpfold::cuda::kernels {

/// Leaves the sum of the slot's elements, all finite, in the segment's digits. By pairs of slices,
/// until nothing is left.
template <class In, class Out>
__device__ void sum_in_digits(std::uint32_t round, int scaled) {
  using Shape = ExactShape<In, Out>;
  using Pair = Slices<2>;
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  auto& memory = tile.segment[warp::index()];
  // Slices of larger elements would overflow; smaller ones than `large` would not survive scaling.
  constexpr int too_large = 1000;
  constexpr std::uint32_t large = power_word(800);
  double value[Shape::lane_elements];
#pragma unroll
  for (int j = 0; j < Shape::in_vectors; ++j) {
    const auto elements = std::bit_cast<LaneElements<typename Shape::InBits, Shape::in_count>>(
        memory.slot[round % exact_slots].at(warp::lane() * Shape::in_vectors + j));
#pragma unroll
    for (int k = 0; k < Shape::in_count; ++k)
      value[j * Shape::in_count + k] = Shape::Placed::of(elements.element[k]);
  }
  LaneDigits sum{};
  while (true) {
    std::uint32_t own = 0;
    std::uint64_t any = 0;
#pragma unroll
    for (const double each : value) {
      own = max(own, magnitude_word(each));
      any |= std::bit_cast<std::uint64_t>(each);
    }
    const std::uint32_t highest = warp::maximum(max(own, any << 1 != 0 ? 1u : 0u));
    if (highest == 0) break;
    const int above = exponent_above(highest);
    const int by = above > too_large ? scaled_by : 0;
    Pair slices(above - by);
#pragma unroll
    for (double& each : value) {
      if (by == 0)
        each = slices.add(each);
      else if (magnitude_word(each) >= large)
        each = slices.add(each * 0x1p-128) * 0x1p128;
    }
#pragma unroll
    for (int i = 0; i < Pair::count; ++i)
      sum.add(warp::reduce_xor(slices.units(i), warp::Plus{}),
              slices.unit(i) + by + scaled + Shape::Placed::shift);
  }
  sum.normalize();
  sum.store(tile.digits_of(round, warp::index()));
  __syncwarp();
}

/// Sums the slot's elements where the window does not do: nothing is known of a sum of elements
/// that are not all finite but their flags.
template <class In, class Out>
__device__ __noinline__ void sum_otherwise(std::uint32_t round, bool finite) {
  using Shape = ExactShape<In, Out>;
  auto& memory = TileMemory<Shape>::own().segment[warp::index()];
  SegmentTotal& total = memory.total_of(round);
  std::uint32_t flags = in_digits_flag;
  __syncwarp();
  if (finite) {
    sum_in_digits<In, Out>(round, static_cast<int>(total.scaled_by));
  } else {
    flags = 0;
    for_each_in_slot<Shape>(
        memory.slot[round % exact_slots],
        [&](typename Shape::InBits bits, int) { flags |= flag_of<In>(Shape::Placed::of(bits)); });
    flags = warp::combined_bits(flags);
  }
  if (warp::lane() != 0) return;
  total.units = WindowUnits{};
  total.flags = flags;
  if (finite) return;
  total.slices = window_slices + 1;
  total.top = no_exponent;
}

/// Returns the sum of a tile's first segments.
template <int Vectors>
__device__ LaneDigits sum_of_segments(BlockMemory<Vectors>& tile, std::uint32_t round,
                                      int segments) {
  WindowUnits units{};
  bool in_digits = false;
  if (warp::lane() < segments) {
    const SegmentTotal& total = tile.segment[warp::lane()].total_of(round);
    units = total.units;
    in_digits = (total.flags & in_digits_flag) != 0;
  }
  LaneDigits sum{};
#pragma unroll 1
  for (int i = 0; i < window_slices; ++i) {
    std::int64_t own = 0;
#pragma unroll
    for (int k = 0; k < window_slices; ++k) own = k == i ? units.slice[k] : own;
    own = warp::reduce_xor(own, warp::Plus{});
    sum.add(own, slice_unit(tile.top[round % window_rounds], i));
  }
  const std::uint32_t those = warp::ballot(in_digits);
#pragma unroll 1
  for (int i = 0; i < segments; ++i)
    if ((those >> i & 1) != 0) sum.add(tile.digits_of(round, i));
  return sum;
}

/// Returns what is before the warp's segment.
template <int Vectors>
__device__ LaneDigits before_segment(BlockMemory<Vectors>& tile, std::uint32_t round) {
  const TileStart& start = tile.start[round % exact_slots];
  LaneDigits before{};
  if (start.again) before = sum_of_segments(tile, round, warp::index());
  before.add(start.segment[warp::index()].units, start.top);
  if (start.any_rest) before.add(start.rest);
  before.normalize();
  return before;
}

/// A lane's sum in slices of a window.
template <class In, int Count>
class LaneSlices {
 public:
  double biased[Count];

  __device__ explicit LaneSlices(int top) : top_(top) {
#pragma unroll
    for (int i = 0; i < Count; ++i) biased[i] = bias(i);
  }

  __device__ double bias(int i) const { return bias_of_unit(slice_unit(top_, i)); }

  /// Returns what is left.
  __device__ double add(double placed) {
    return add(placed, [](int, double) {});
  }

  /// Calls see(i, what slice i leaves).
  template <class See>
  __device__ double add(double placed, See see) {
    const double lead = SummedFloat<In>::added(biased[0], placed);
    double rest = SummedFloat<In>::rest(placed, lead - biased[0]);
    biased[0] = lead;
#pragma unroll
    for (int i = 1; i < Count; ++i) {
      const double sum = biased[i] + rest;
      rest -= sum - biased[i];
      biased[i] = sum;
      see(i, rest);
    }
    return rest;
  }

  /// Replaces the sum by units, in all `Count` slices.
  __device__ void set(const WindowUnits& units) {
#pragma unroll
    for (int i = 0; i < Count; ++i) biased[i] = warpfold::biased(bias(i), units.slice[i]);
  }

  /// Returns the sum as what is to be rounded to an output element; of three slices with `half` a
  /// unit of the last.
  template <class Out>
  __device__ double sum_for(double half) const {
    double part[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i) part[i] = biased[i] - bias(i);
    double high = part[0];
    double below = part[Count - 1];
    if constexpr (Count == 3) {
      // What the upper two leave is far below their sum, or nothing.
      below += half;
      high += part[1];
      const double second = high - part[0];
      below = sum_to_odd((part[0] - (high - second)) + (part[1] - second), below);
    } else {
      // After this, no part exceeds half a unit of the one above.
#pragma unroll
      for (int i = Count - 1; i > 0; --i) {
        const double carry = (part[i] + bias(i - 1)) - bias(i - 1);
        part[i] -= carry;
        part[i - 1] += carry;
      }
      high = part[Count - 1];
#pragma unroll
      for (int i = Count - 1; i > 0; --i) {
        const double sum = part[i - 1] + high;
        part[i] = high - (sum - part[i - 1]);
        high = sum;
      }
      below = part[Count - 1];
#pragma unroll
      for (int i = Count - 2; i > 0; --i) below = sum_to_odd(part[i], below);
    }
    return OutputRounding<Out>::sum(high, below);
  }

 private:
  int top_;
};

/// Adds units of slice i of the lanes below.
__device__ inline void add_units_below(WindowUnits& units, int i, std::int64_t own) {
  units.slice[i] += warp::inclusive_scan(own, warp::Plus{}) - own;
}

/// Adds the sums of the lanes below in three slices, as the segment's sum left them; its elements
/// take `slices`.
template <int Vectors>
__device__ void add_lanes_of_sum(WindowUnits& units, const SegmentMemory<Vectors>& memory,
                                 std::uint32_t slot, int top, int slices) {
  const double2 below = memory.lanes_below[slot][warp::lane()];
  const double upper_bias = bias_of_unit(slice_unit(top, 0));
  const double lower_bias = bias_of_unit(slice_unit(top, 1));
  const double carry = (below.y + upper_bias) - upper_bias;
  units.slice[0] += units_of(upper_bias, upper_bias + (below.x + carry));
  units.slice[1] += units_of(lower_bias, lower_bias + (below.y - carry));
  if (slices > 2) add_units_below(units, 2, memory.lane_third[slot][warp::lane()]);
}

/// Replaces the slot's elements by their prefixes, where so many slices below `top` hold them and
/// what is before them; tells whether these are certain. Where there is `more` before, less than a
/// unit of the last of three slices, it counts as half of one: any part of one rounds alike, unless
/// prefixes are small. Where elements are `cut`, what three slices do not hold of them is left out:
/// prefixes are rounded with all that may be missing added, and subtracted. `slices` is what the
/// segment's sum took in the window of `top`, 0 if in another.
template <class In, class Out, int Count, bool cut = false>
__device__ __noinline__ bool write_in_slices(std::uint32_t slot, int top, const WindowUnits& before,
                                             int slices, bool more, const ScannedArray& array) {
  using Shape = ExactShape<In, Out>;
  auto& memory = TileMemory<Shape>::own().segment[warp::index()];
  LaneSlices<In, Count> sum(top);
  WindowUnits units = before;
  if (Count == 3 && slices != 0) {
    add_lanes_of_sum(units, memory, slot, top, slices);
  } else {
    std::uint64_t left = 0;
#pragma unroll
    for (int j = 0; j < Shape::in_vectors; ++j) {
      const auto elements = std::bit_cast<LaneElements<typename Shape::InBits, Shape::in_count>>(
          memory.slot[slot].template of_lane<Shape::in_vectors>(j));
#pragma unroll
      for (const auto element : elements.element)
        left |= std::bit_cast<std::uint64_t>(sum.add(Shape::Placed::of(element)));
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
  const double most = biased(last_bias, Shape::segment_elements / 2 + 1) - last_bias;
  const OutputRounding<Out> rounding(array);
  std::uint32_t lowest = ~0u;
  std::uint64_t differing = 0;
  const auto rounded = [&] {
    const double prefix = sum.template sum_for<Out>(cut ? most : half);
    const typename Shape::OutBits bits = rounding.bits_of(prefix);
    if constexpr (Count == 3) lowest = min(lowest, magnitude_word(prefix));
    if constexpr (cut) differing |= bits ^ rounding.bits_of(sum.template sum_for<Out>(-most));
    return bits;
  };
  // An exclusive prefix has the element before in the place of its own.
  typename Shape::InBits bits_before{};
  const auto prefix = [&](typename Shape::InBits bits) {
    sum.add(Shape::Placed::of(array.exclusive ? bits_before : bits));
    bits_before = bits;
    return rounded();
  };
  replace_elements<In, Out>(memory.slot[slot], prefix);
  const int least = slice_unit(top, Count - 1) + output_bits<Out>;
  return !more || warp::all(differing == 0 && lowest >= power_word(max(least, -1022)));
}

/// Replaces the numbers of the lanes by the sum of `base` and those of the lanes below.
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

/// Replaces the slot's elements, times 2^-scaled, by their prefixes: what is before the first is
/// in the segment's digits and `flags`.
template <class In, class Out>
__device__ __noinline__ void write_in_full(std::uint32_t slot, std::uint32_t flags, int scaled,
                                           const ScannedArray& array) {
  using Shape = ExactShape<In, Out>;
  auto& memory = TileMemory<Shape>::own().segment[warp::index()];
  WideNumber<all_digits> number{};
  // Adds an element; returns its flag.
  const auto add = [&](typename Shape::InBits bits) {
    const double value = Shape::Placed::of(bits);
    const std::uint32_t flag = flag_of<In>(value);
    number.add(flag == 0 ? value : 0.0, least_unit - Shape::Placed::shift - scaled);
    return flag;
  };
  std::uint32_t own_flags = 0;
  for_each_in_slot<Shape>(memory.slot[slot],
                          [&](typename Shape::InBits bits, int) { own_flags |= add(bits); });
  add_below(number, memory.digit);
  flags |= flags_below(own_flags);
  const OutputRounding<Out> rounding(array);
  LanePrefixes<Shape> prefixes;
  typename Shape::InBits bits_before{};
  for_each_in_slot<Shape>(memory.slot[slot], [&](typename Shape::InBits bits, int k) {
    flags |= add(array.exclusive ? bits_before : bits);
    bits_before = bits;
    const double value = (flags & special_flags) != 0
                             ? special_of(flags)
                             : number.rounded(rounding_towards<Out>, least_unit);
    prefixes.element[k] = rounding.bits_of_any(value);
  });
  __syncwarp();
  store_prefixes<Shape>(memory.slot[slot], prefixes);
}

/// Multiplies a slot's prefixes, doubles, by 2^scaled_by.
template <class Shape>
__device__ void unscale(WarpVectors<Shape::vectors>& slot) {
#pragma unroll 1
  for (int i = 0; i < Shape::out_vectors; ++i) {
    auto pair = std::bit_cast<LaneElements<double, 2>>(slot.of_warp(i));
    for (double& each : pair.element) each *= 0x1p128;
    slot.of_warp(i) = packed(pair);
  }
  __syncwarp();
}

/// Leaves the slot's elements as the sum of the segment found them.
template <class In, class Out>
__device__ __noinline__ void read_again(const ScannedArray& array, std::uint32_t round,
                                        std::uint32_t tile) {
  SegmentPort<In, Out> port(array);
  port.read_again(round, tile);
  auto& memory = TileMemory<ExactShape<In, Out>>::own().segment[warp::index()];
  if (memory.total_of(round).scaled_by != 0) port.scale(round % exact_slots);
}

/// Replaces the slot's elements by their prefixes, where the upper slices of the window are not
/// enough; `tried` says whether that has spoilt the elements.
template <class In, class Out>
__device__ __noinline__ void write_otherwise(const ScannedArray& array, std::uint32_t round,
                                             std::uint32_t tile_number, bool tried) {
  using Shape = ExactShape<In, Out>;
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  auto& memory = tile.segment[warp::index()];
  const std::uint32_t slot = round % exact_slots;
  if (tried) read_again<In, Out>(array, round, tile_number);
  const TileStart& start = tile.start[slot];
  const SegmentTotal& total = memory.total_of(round);
  const std::uint32_t flags = start.segment[warp::index()].flags;
  const int scaled = static_cast<int>(total.scaled_by);
  if (((flags | total.flags) & special_flags) == 0 && total.slices <= window_slices &&
      total.top <= start.top - Shape::room && scaled == (start.top > largest_top ? scaled_by : 0)) {
    WindowUnits before = start.segment[warp::index()].units;
    LaneDigits rest{};
    if (start.again) {
      rest = before_segment(tile, round);
      before = rest.take(start.top, memory.digit);
    }
    const int top = start.top - scaled;
    const bool any_rest = start.any_rest || rest.any();
    bool written = false;
    if (total.slices <= 3) {
      written = write_in_slices<In, Out, 3>(slot, top, before, start.again ? 0 : total.slices,
                                            any_rest || before.any_below(2), array);
      if (!written) read_again<In, Out>(array, round, tile_number);
    }
    if (!written && !any_rest)
      written = write_in_slices<In, Out, 5>(slot, top, before, 0, false, array);
    if (written) {
      __syncwarp();
      if (std::is_same_v<Out, double> && scaled != 0) unscale<Shape>(memory.slot[slot]);
      return;
    }
  }
  LaneDigits before = before_segment(tile, round);
  if constexpr (std::is_same_v<In, double>) {
    const int top = top_of_at_least(max(before.exponent() + 3, total.top + Shape::room));
    // Scaled prefixes are right in doubles alone, where they do not round.
    const bool as_scaled = std::is_same_v<Out, double> || scaled == 0;
    if (flags == 0 && total.flags == in_digits_flag && top - scaled <= largest_top && as_scaled) {
      LaneDigits rest = before;
      const WindowUnits units = rest.take(top, memory.digit);
      if (write_in_slices<In, Out, 3, true>(slot, top - scaled, units, 0, true, array)) {
        __syncwarp();
        if (std::is_same_v<Out, double> && scaled != 0) unscale<Shape>(memory.slot[slot]);
        return;
      }
      read_again<In, Out>(array, round, tile_number);
    }
  }
  before.store(memory.digit);
  __syncwarp();
  write_in_full<In, Out>(slot, flags, scaled, array);
}

}  // namespace warpfold::cuda::kernels
