#pragma once

#include <cstdint>

#include "core/numeric/rounding.hpp"
#include "cuda/exact_scan/aggregates.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// The publisher: publishes the aggregates of a block's tiles. By one warp.
template <class Size>
class TilePublisher {
 public:
  __device__ explicit TilePublisher(const ExactAggregateRing& ring)
      : ring_(ring), shared_(BlockMemoryOf<Size>::own()) {}

  /// Publishes the aggregate of the round's tile; then stores the sums below each of its segments.
  __device__ void publish(std::uint32_t round) {
    SegmentAggregate own{};
    own.exponent = no_exponent;
    if (warp::lane() < segment_warps()) own = shared_.segment[warp::lane()].aggregate_of(round);
    std::uint32_t flags = own.flags;
    if (own.sum.any_below(1)) flags |= third_slice_flag;
    if (own.sum.any_below(2)) flags |= lower_slices_flag;
    flags = warp::combined_bits(flags);
    WindowSum through = own.sum;
    if ((flags & third_slice_flag) != 0) add_lanes_below(through, 2, window_slices);
    const bool has_remainders = (flags & (remainder_flag | full_width_flag)) == remainder_flag;
    if (has_remainders) published_ = any_remainder_flag;
    const int round_exponent = publish_aggregate(round, through, flags);
    add_lanes_below(through, 0, 2);
    const std::uint32_t below_flags =
        (flags & any_non_finite) != 0 ? flags_below(own.flags) : std::uint32_t{0};
    if (has_remainders) {
      add_full_width_sums(remainders_, shared_, round, segment_warps());
      remainders_.normalize();
    }
    if (published_ != 0) ring_.publish(ring_.remainder_words, round, blockIdx.x, remainders_);
    const int exponent = warp::reduce_xor(own.exponent, warp::Maximum{});
    TilePrefix& tile_prefix = shared_.tile_prefix[round % slot_rounds];
    if (warp::lane() < segment_warps()) {
      SegmentPrefix& segment = tile_prefix.segment[warp::lane()];
#pragma unroll
      for (int i = 0; i < window_slices; ++i)
        segment.sum.slice[i] = through.slice[i] - own.sum.slice[i];
      segment.flags = below_flags;
      segment.error = (below_flags | (own.flags & ~remainder_flag)) != 0 ? slow_path : 0;
    }
    if (warp::lane() == 0) {
      tile_prefix.exponent = exponent;
      tile_prefix.round_exponent = round_exponent;
      tile_prefix.flags = flags & (full_width_flag | remainder_flag);
    }
  }

 private:
  /// In addition to a header's flags: whether a segment has more than two slices.
  static constexpr std::uint32_t third_slice_flag = 128;

  /// `units` are each lane's own in the first two slices, inclusive sums of lanes in those below.
  /// Returns TilePrefix::round_exponent.
  __device__ int publish_aggregate(std::uint32_t round, const WindowSum& units,
                                   std::uint32_t flags) {
    WindowSum sum;
#pragma unroll
    for (int i = 0; i < window_slices; ++i)
      sum.slice[i] = i < 2 ? warp_sum_of_signed(units.slice[i])
                           : warp::shuffle(units.slice[i], warp::lanes - 1);
    sum.normalize();
    std::uint32_t kept = any_non_finite | lower_slices_flag | remainder_flag;
    if ((flags & full_width_flag) != 0) {
      WarpSuperaccumulator digits = sum_of_segments(shared_, round, segment_warps());
      digits.normalize();
      ring_.publish(ring_.full_width_words, round, blockIdx.x, digits);
      kept = any_non_finite | full_width_flag;
    }
    if (warp::lane() == 0)
      ring_.publish(round, blockIdx.x,
                    TileAggregate(sum, header_of(shared_.window_top[round % window_rounds]) |
                                           (flags & kept) | published_));
    return sum.exponent(shared_.window_top[round % window_rounds]) + 64 - leading_zeros(gridDim.x);
  }

  __device__ static void add_lanes_below(WindowSum& units, int begin, int end) {
#pragma unroll
    for (int i = 0; i < window_slices; ++i)
      if (i >= begin && i < end)
        units.slice[i] = warp::inclusive_scan(units.slice[i], warp::Plus{});
  }

  const ExactAggregateRing ring_;
  BlockMemoryOf<Size>& shared_;
  WarpSuperaccumulator remainders_{};  ///< the sum over the block's tiles so far
  std::uint32_t published_ = 0;        ///< any_remainder_flag, if it publishes them
};

}  // namespace warpfold::cuda::kernels
