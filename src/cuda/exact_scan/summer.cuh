#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/lane_slices.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// Stores the sum of the slot's elements, all finite, at full width: adds them in pairs of slices
/// until nothing is left.
template <class In, class Out>
__device__ void sum_at_full_width(std::uint32_t round, int scaled) {
  using Layout = SegmentLayout<In, Out>;
  using Pair = Slices<2>;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  auto& memory = shared.segment[warp::index()];
  // Slices of larger elements would overflow; smaller ones than `large` would not survive scaling.
  constexpr int too_large = 1000;
  constexpr std::uint32_t large = power_word(800);
  double value[Layout::lane_elements];
  load_lane<Layout>(memory.slot[round % slot_rounds], value,
                    [](typename Layout::InBits bits) { return Layout::Placed::of(bits); });
  WarpSuperaccumulator sum{};
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
    const int by = above > too_large ? downscale_exponent : 0;
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
              slices.unit(i) + by + scaled + Layout::Placed::shift);
  }
  sum.normalize();
  sum.store(shared.full_width_sum(round, warp::index()));
  __syncwarp();
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

/// Stores the aggregate of a segment that its window does not hold: at full width, as sum_up()
/// stores it, or only the flags where some elements are not finite. By the whole warp.
template <class In, class Out, class SumUp>
__device__ void store_out_of_window(SegmentAggregate& aggregate, std::uint32_t round, bool finite,
                                    SumUp sum_up) {
  std::uint32_t flags = full_width_flag;
  __syncwarp();
  if (finite)
    sum_up();
  else
    flags = flags_of_segment<In, Out>(round);
  if (warp::lane() != 0) return;
  aggregate.sum = WindowSum{};
  aggregate.flags = flags;
  if (!finite) aggregate.exponent = no_exponent;
}

/// Sums the slot's elements where the window does not hold them.
template <class In, class Out>
__device__ __noinline__ void sum_segment_slow_path(std::uint32_t round, bool finite) {
  using Layout = SegmentLayout<In, Out>;
  SegmentAggregate& aggregate =
      BlockMemoryOf<Layout>::own().segment[warp::index()].aggregate_of(round);
  store_out_of_window<In, Out>(aggregate, round, finite, [&] {
    sum_at_full_width<In, Out>(round, static_cast<int>(aggregate.scaled_by));
  });
  if (warp::lane() == 0 && !finite) aggregate.slices = window_slices + 1;
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
    int slices = tries_one_slice(round) ? 1 : slices_;
    int tried_slices = 0;
    std::uint32_t highest = 0;
    do {
      tried_slices = slices;
      slices = has_one_slice<In> && tried_slices == 1
                   ? sum_in_slices<1>(round, top - scaled, highest)
               : tried_slices == 2 ? sum_in_slices<2>(round, top - scaled, highest)
               : tried_slices == 3 ? sum_in_slices<3>(round, top - scaled, highest)
                                   : sum_in_slices<window_slices>(round, top - scaled, highest);
    } while (slices > tried_slices && slices <= window_slices);
    const int exponent = Summed::exponent_above(highest);
    const bool finite = highest < Placed::non_finite_word;
    const bool summed = finite && slices <= window_slices &&
                        exponent <= top - scaled - Layout::headroom &&
                        (top <= largest_top || scaled != 0);
    slices_ = summed ? max(slices, 2) : 2;
    if (warp::lane() == warp::lanes - 1) {
      SegmentAggregate& aggregate = memory_.aggregate_of(round);
      aggregate.slices = slices;
      aggregate.exponent = exponent + scaled;
      aggregate.flags = 0;
      aggregate.scaled_by = static_cast<std::uint32_t>(scaled);
    }
    if (!summed) sum_segment_slow_path<In, Out>(round, finite);
  }

 private:
  using Summed = typename Layout::Summed;
  using Placed = typename Layout::Placed;
  using InBits = typename Layout::InBits;

  /// Returns whether one slice sufficed for one of the last two segments; now and then true anyway.
  __device__ bool tries_one_slice(std::uint32_t round) const {
    if (!has_one_slice<In> || round < 2) return false;
    return round % 64 == 2 || memory_.aggregate_of(round - 1).slices == 1 ||
           memory_.aggregate_of(round - 2).slices == 1;
  }

  /// Sums in `Count` slices; returns how many hold the elements: more than `Count` if these do not.
  template <int Count>
  __device__ int sum_in_slices(std::uint32_t round, int top, std::uint32_t& highest) {
    const std::uint32_t slot = round % slot_rounds;
    // One slice is one of a lower window, for elements that are hardly above the last ones.
    const int most = Count > 1
                         ? top - Layout::headroom
                         : one_slice_exponent(memory_.aggregate_of(round - 1).exponent + 1, top);
    LaneSlices<In, Count> sum(Count > 1 ? top : most + top_slice_bits - one_slice_bits);
    std::uint64_t left = 0;
    std::uint64_t left_by_two = 0;
    std::uint64_t left_by_three = 0;
    std::uint32_t own_highest = 0;
    uint4 vectors[Layout::in_vectors];
#pragma unroll
    for (int j = 0; j < Layout::in_vectors; ++j)
      vectors[j] = memory_.slot[slot].template blocked<Layout::in_vectors>(j);
#pragma unroll
    for (int j = 0; j < Layout::in_vectors; ++j) {
      const auto elements = std::bit_cast<typename Layout::InElements>(vectors[j]);
#pragma unroll
      for (const InBits element : elements.element) {
        own_highest = max(own_highest, Placed::word(element));
        const double rest = sum.add(Placed::of(element), [&](int i, double by_slice) {
          if (i == 1 && Count > 2) left_by_two |= std::bit_cast<std::uint64_t>(by_slice);
          if (i == 2 && Count > 3) left_by_three |= std::bit_cast<std::uint64_t>(by_slice);
        });
        left |= std::bit_cast<std::uint64_t>(rest);
      }
    }
    highest = warp::maximum(own_highest);
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
    memory_.lane_prefix[slot][warp::lane()] = {upper_through - upper, lower_through - lower};
    std::int64_t units[window_slices] = {};
#pragma unroll
    for (int i = 2; i < Count; ++i) {
      const std::int64_t own = units_of(sum.bias(i), sum.biased[i]);
      if (i == 2) memory_.lane_third_slice[slot][warp::lane()] = own;
      units[i] = warp::reduce_xor(own, warp::Plus{});
    }
    if (warp::lane() == warp::lanes - 1) {
      const double carry = (lower_through + upper_bias) - upper_bias;
      units[0] = units_of(upper_bias, upper_bias + (upper_through + carry));
      units[1] = units_of(lower_bias, lower_bias + (lower_through - carry));
#pragma unroll
      for (int i = 0; i < window_slices; ++i) memory_.aggregate_of(round).sum.slice[i] = units[i];
    }
    const auto any = [](std::uint64_t bits) { return warp::any(bits << 1 != 0); };
    if (Count == 1) return any(left) || Summed::exponent_above(highest) > most ? 2 : 1;
    if (any(left)) return Count == 2 ? 3 : Count == 3 ? window_slices : window_slices + 1;
    if (Count > 3 && any(left_by_three)) return window_slices;
    return Count > 2 && any(left_by_two) ? 3 : 2;
  }

  BlockMemoryOf<Layout>& shared_;
  SegmentMemory<Layout::vectors>& memory_;
  int slices_ = 2;  ///< that the last segment needed
};

}  // namespace warpfold::cuda::kernels
