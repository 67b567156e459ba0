#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/lane_slices.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/half_digits.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/placed_float.hpp"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// Returns the sum of what part_of(bits) returns of each of the slot's elements, in the order of a
/// lane, times 2^scale. By the whole warp.
template <class In, class Out, class PartOf>
__device__ WarpSuperaccumulator sum_of_parts(std::uint32_t round, int scale, PartOf part_of) {
  using Layout = SegmentLayout<In, Out>;
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  for (int i = warp::lane(); i < 2 * full_width_digits; i += warp::lanes) memory.half_digits[i] = 0;
  __syncwarp();
  const auto add = [&](int i, std::int32_t digit) {
    if (digit != 0) atomicAdd(&memory.half_digits[i], digit);
  };
  for_each_in_slot<Layout>(
      memory.slot[round % slot_rounds], [&](typename Layout::InBits bits, int) {
        const ScaledInteger part = part_of(bits);
        const int place = part.exponent + scale - least_unit;
        add_half_digits<significand_bits<double>>(part.magnitude, place, part.negative, add);
      });
  __syncwarp();
  WarpSuperaccumulator sum;
  sum.set(memory.half_digits);
  return sum;
}

/// Returns the flags of the round's segment. By the whole warp.
template <class In, class Out>
__device__ std::uint32_t flags_of_segment(std::uint32_t round) {
  using Layout = SegmentLayout<In, Out>;
  std::uint32_t flags = 0;
  for_each_in_slot<Layout>(
      BlockMemoryOf<Layout>::own().segment[warp::index()].slot[round % slot_rounds],
      [&](typename Layout::InBits bits, int) {
        flags |= non_finite_flag<In>(Layout::Placed::of(bits));
      });
  return warp::combined_bits(flags);
}

/// Completes the aggregate of a segment that its window does not hold, by what sum() returns: the
/// remainders if the window holds the `upper` parts of elements, or else all. By the flags alone
/// where some elements are not finite. By the whole warp.
template <class In, class Out, class Sum>
__device__ void store_out_of_window(std::uint32_t round, bool finite, bool upper, Sum sum) {
  auto& shared = BlockMemoryOf<SegmentLayout<In, Out>>::own();
  SegmentAggregate& aggregate = shared.segment[warp::index()].aggregate_of(round);
  std::uint32_t flags = upper ? remainder_flag : full_width_flag;
  if (finite)
    sum().store(shared.full_width_sum(round, warp::index()));
  else
    flags = flags_of_segment<In, Out>(round);
  __syncwarp();
  if (warp::lane() != 0) return;
  aggregate.flags = flags;
  if (!upper) aggregate.sum = WindowSum{};
  if (!finite) aggregate.exponent = no_exponent;
}

/// Sums the slot's elements, which are below 2^exponent, where the window, if it holds the `upper`
/// parts, does not hold all.
template <class In, class Out>
__device__ __noinline__ void sum_segment_slow_path(std::uint32_t round, int exponent, int scaled,
                                                   bool finite, bool upper) {
  using Layout = SegmentLayout<In, Out>;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  const int top = upper ? shared.window_top[round % window_rounds] - scaled
                        : top_of_at_least(exponent + Layout::headroom);
  // Slices of larger elements would overflow.
  const bool sliced = top <= largest_top;
  store_out_of_window<In, Out>(round, finite, upper, [&] {
    LaneSlices<In, window_slices> slices(min(top, largest_top));
    auto sum = sum_of_parts<In, Out>(round, scaled, [&](typename Layout::InBits bits) {
      const double placed = Layout::Placed::of(bits);
      return scaled_integer(sliced ? slices.add(placed) : placed);
    });
    if (upper || !sliced) return sum;
#pragma unroll
    for (int i = 0; i < window_slices; ++i)
      sum.add(warp::reduce_xor(units_of(slices.bias(i), slices.biased[i]), warp::Plus{}),
              slice_unit(top, i) + scaled);
    sum.normalize();
    return sum;
  });
  if (warp::lane() == 0 && !finite)
    shared.segment[warp::index()].aggregate_of(round).slices = window_slices + 1;
}

/// Finds the exponent above the first segment's finite elements, which are loaded: by these the
/// resolver chooses the first windows. Returns it.
template <class In, class Out>
__device__ int store_first_exponent() {
  using Layout = SegmentLayout<In, Out>;
  using Placed = typename Layout::Placed;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  auto& slot = shared.segment[warp::index()].slot[0];
  std::uint32_t highest = 0;
#pragma unroll
  for (int i = 0; i < Layout::in_vectors; ++i) {
    const auto elements = std::bit_cast<typename Layout::InElements>(slot.striped(i));
#pragma unroll
    for (const typename Layout::InBits element : elements.element) {
      const std::uint32_t word = Placed::word(element);
      if (word < Placed::non_finite_word) highest = max(highest, word);
    }
  }
  const int exponent = Layout::Summed::exponent_above(warp::maximum(highest));
  shared.first_exponent[warp::index()] = exponent;
  return exponent;
}

/// The result of sum_in_slices(), which stores the sum itself.
struct SlicedSum {
  int slices;             ///< that hold the elements: more than were tried if these do not
  std::uint32_t highest;  ///< greatest magnitude_word() of elements
};

/// Sums the slot's elements in `Count` slices below `top`. By the whole warp.
template <class In, class Out, int Count>
__device__ SlicedSum sum_in_slices(std::uint32_t round, int top) {
  using Layout = SegmentLayout<In, Out>;
  using Summed = typename Layout::Summed;
  using Placed = typename Layout::Placed;
  auto& memory = BlockMemoryOf<Layout>::own().segment[warp::index()];
  const std::uint32_t slot = round % slot_rounds;
  // One slice is one of a lower window, for elements that are hardly above the last ones.
  const int most = Count > 1 ? top - Layout::headroom
                             : one_slice_exponent(memory.aggregate_of(round - 1).exponent + 1, top);
  LaneSlices<In, Count> sum(Count > 1 ? top : most + top_slice_bits - one_slice_bits);
  std::uint64_t left_by[Count] = {};
  std::uint32_t own_highest = 0;
  const auto add = [&](const uint4& vector) {
    const auto elements = std::bit_cast<typename Layout::InElements>(vector);
#pragma unroll
    for (const auto element : elements.element) {
      own_highest = max(own_highest, Placed::word(element));
      sum.add(Placed::of(element),
              [&](int i, double left) { left_by[i] |= std::bit_cast<std::uint64_t>(left); });
    }
  };
  auto& elements = memory.slot[slot];
  if constexpr (Count < 4) {
    uint4 vectors[Layout::in_vectors];
#pragma unroll
    for (int j = 0; j < Layout::in_vectors; ++j)
      vectors[j] = elements.template blocked<Layout::in_vectors>(j);
#pragma unroll
    for (const uint4& vector : vectors) add(vector);
  } else {
#pragma unroll 2
    for (int j = 0; j < Layout::in_vectors; ++j)
      add(elements.template blocked<Layout::in_vectors>(j));
  }
  const std::uint32_t highest = warp::maximum(own_highest);
  const double upper_bias = bias_of_unit(slice_unit(top, 0));
  const double lower_bias = bias_of_unit(slice_unit(top, 1));
  double upper = sum.biased[0] - sum.bias(0);
  double lower = 0.0;
  if constexpr (Count > 1) {
    lower = sum.biased[1] - sum.bias(1);
  } else {
    lower = upper;
    upper = (upper + upper_bias) - upper_bias;
    lower -= upper;
  }
  const double upper_through = warp::inclusive_scan(upper, warp::Plus{});
  const double lower_through = warp::inclusive_scan(lower, warp::Plus{});
  memory.lane_prefix[slot][warp::lane()] = {upper_through - upper, lower_through - lower};
  std::int64_t units[window_slices] = {};
#pragma unroll
  for (int i = 2; i < Count; ++i) {
    const std::int64_t own = units_of(sum.bias(i), sum.biased[i]);
    if (i == 2) memory.lane_third_slice[slot][warp::lane()] = own;
    units[i] = warp::reduce_xor(own, warp::Plus{});
  }
  if (warp::lane() == warp::lanes - 1) {
    const double carry = (lower_through + upper_bias) - upper_bias;
    units[0] = units_of(upper_bias, upper_bias + (upper_through + carry));
    units[1] = units_of(lower_bias, lower_bias + (lower_through - carry));
#pragma unroll
    for (int i = 0; i < window_slices; ++i) memory.aggregate_of(round).sum.slice[i] = units[i];
  }
  const auto any = [](std::uint64_t bits) { return warp::any(bits << 1 != 0); };
  if (Count == 1)
    return {any(left_by[0]) || Summed::exponent_above(highest) > most ? 2 : 1, highest};
  if (any(left_by[Count - 1])) return {Count == 3 ? window_slices : Count + 1, highest};
  int slices = 2;
#pragma unroll
  for (int i = 2; i < Count; ++i)
    if (any(left_by[i - 1])) slices = i + 1;
  return {slices, highest};
}

/// sum_in_slices() out of line, for what is rare.
template <class In, class Out, int Count>
__device__ __noinline__ SlicedSum sum_in_lower_slices(std::uint32_t round, int top) {
  return sum_in_slices<In, Out, Count>(round, top);
}

/// The summer: finds the aggregate of its warp's segments. By the whole warp.
template <class In, class Out>
class SegmentSummer {
 public:
  using Layout = SegmentLayout<In, Out>;

  __device__ SegmentSummer()
      : shared_(BlockMemoryOf<Layout>::own()), memory_(shared_.segment[warp::index()]) {}

  __device__ void find_first_exponent() { store_first_exponent<In, Out>(); }

  /// Sums the segment of the round's tile, which is loaded.
  __device__ void sum(std::uint32_t round) {
    const std::uint32_t slot = round % slot_rounds;
    const int top = shared_.window_top[round % window_rounds];
    const int scaled = top > largest_top ? downscale<In, Layout>(memory_.slot[slot]) : 0;
    SlicedSum sum{tries_one_slice(round) ? 1 : slices_, 0};
    int tried_slices = 0;
    do {
      tried_slices = sum.slices;
      sum = has_one_slice<In> && tried_slices == 1 ? sum_in_slices<In, Out, 1>(round, top - scaled)
            : tried_slices == 2                    ? sum_in_slices<In, Out, 2>(round, top - scaled)
            : tried_slices == 3                    ? sum_in_slices<In, Out, 3>(round, top - scaled)
            : tried_slices == 4 ? sum_in_lower_slices<In, Out, 4>(round, top - scaled)
                                : sum_in_lower_slices<In, Out, 5>(round, top - scaled);
    } while (sum.slices > tried_slices && sum.slices <= window_slices);
    const int exponent = Summed::exponent_above(sum.highest);
    const bool finite = sum.highest < Placed::non_finite_word;
    const bool upper = finite && exponent <= top - scaled - Layout::headroom &&
                       (top <= largest_top || scaled != 0);
    choose_slices(upper ? sum.slices : 0);
    if (warp::lane() == warp::lanes - 1) {
      SegmentAggregate& aggregate = memory_.aggregate_of(round);
      aggregate.slices = sum.slices;
      aggregate.exponent = exponent + scaled;
      aggregate.flags = 0;
      aggregate.scaled_by = static_cast<std::uint32_t>(scaled);
    }
    if (!upper || sum.slices > window_slices)
      sum_segment_slow_path<In, Out>(round, exponent, scaled, finite, upper);
  }

 private:
  using Summed = typename Layout::Summed;
  using Placed = typename Layout::Placed;
  using InBits = typename Layout::InBits;

  /// Chooses the slices to try next, when a segment took `slices`, or 0 if the window is too low.
  /// A second try takes all blocks longer than a slice too much.
  __device__ void choose_slices(int slices) {
    constexpr int patience = 16;
    fewer_ = slices < slices_ ? fewer_ + 1 : 0;
    if (slices == 0)
      slices_ = 2;
    else if (fewer_ == patience && slices_ > 2)
      --slices_;
    else
      slices_ = max(slices_, min(slices, window_slices));
    if (fewer_ == patience) fewer_ = 0;
  }

  /// Returns whether one slice sufficed for one of the last two segments; now and then true anyway.
  __device__ bool tries_one_slice(std::uint32_t round) const {
    if (!has_one_slice<In> || round < 2) return false;
    return round % 64 == 2 || memory_.aggregate_of(round - 1).slices == 1 ||
           memory_.aggregate_of(round - 2).slices == 1;
  }

  BlockMemoryOf<Layout>& shared_;
  SegmentMemory<Layout::vectors>& memory_;
  int slices_ = 2;  ///< that are tried if one does not suffice
  int fewer_ = 0;   ///< segments in a row that took fewer
};

}  // namespace warpfold::cuda::kernels
