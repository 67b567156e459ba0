#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cuda/exact_scan/aggregates.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"
#include "warpfold/core/int128.hpp"

/// Data that the roles of a thread block exchange, and for how many rounds each item is kept.
namespace warpfold::cuda::kernels {

/// A segment is written this many rounds after it is summed.
inline constexpr std::uint32_t write_lag = 2;
/// The segments in shared memory: one is loaded while another is summed.
inline constexpr std::uint32_t slot_rounds = write_lag + 2;
/// A window is chosen when the prefix of the tile this many rounds earlier is known.
inline constexpr std::uint32_t window_lead = write_lag + 1;
/// A tile is written up to write_lag rounds after a later one is resolved.
inline constexpr std::uint32_t window_rounds = std::bit_ceil(window_lead + write_lag + 1);
/// Other warps read the aggregates of segments: they may have yet to write a tile when the warp
/// sums one of five rounds later.
inline constexpr std::uint32_t segment_rounds = std::bit_ceil(2 * write_lag + 2);
/// The digits of the aggregates of a block's segments at full width, in device memory.
inline constexpr std::uint32_t block_full_width_digits =
    segment_rounds * max_segment_warps * full_width_digits;

/// Aggregate of a segment, by the summer.
struct SegmentAggregate {
  WindowSum sum;          ///< 0 where it is at full width
  union {                 // by doubles, by integers
    std::int32_t slices;  ///< that its elements take, or more than there are
    bool lanes_are_cut;   ///< whether lane_units lack what elements have below its unit
  };
  std::int32_t exponent;      ///< the elements are below 2^exponent
  std::uint32_t flags;        ///< NonFiniteFlag, full_width_flag, or remainder_flag
  union {                     // by doubles, by integers
    std::uint32_t scaled_by;  ///< its elements in the slot are times 2^-scaled_by
    std::int32_t lane_unit;   ///< exponent of the unit of lane_units, or no_unit
  };
};

/// The lane_unit where there are no lane_units.
inline constexpr std::int32_t no_unit = -8192;

/// A segment warp's shared memory.
template <int Vectors>
struct alignas(1024) SegmentMemory {
  Slot<Vectors> slot[slot_rounds];  ///< each aligned to 1024 bytes
  Mbarrier loaded[slot_rounds];     ///< completed by copies of rows
  union {
    double2 lane_prefix[slot_rounds][warp::lanes];  ///< exclusive, of the upper two slices
    int128 lane_units[slot_rounds][warp::lanes];    ///< the same by integers
  };
  std::int64_t lane_third_slice[slot_rounds][warp::lanes];  ///< units, if doubles summed it
  SegmentAggregate aggregate[segment_rounds];
  union {
    std::uint32_t scratch_digits[full_width_digits];
    std::int32_t half_digits[2 * full_width_digits];
  };

  __device__ SegmentAggregate& aggregate_of(std::uint32_t round) {
    return aggregate[round % segment_rounds];
  }
};

/// Sum of all elements before a segment.
struct SegmentPrefix {
  WindowSum sum;
  std::uint32_t flags;  ///< NonFiniteFlag
  /// The units of slice 1 by which it may be wrong, as it lacks remainders; slow_path if the
  /// window's upper slices cannot give its prefixes.
  std::int32_t error;
};

inline constexpr std::int32_t slow_path = -1;
inline constexpr std::int32_t remainder_error = 2;

/// In addition to remainder_flag: sums lack a rest below the window, in [0, a unit of the last
/// slice).
inline constexpr std::uint32_t rest_flag = 1;

/// Sums before each segment of a tile: the resolver's exclusive prefix of the tile plus the
/// aggregates of the segments below. Until it is resolved, the latter alone.
struct TilePrefix {
  std::int32_t top;             ///< top of the window of the sums
  std::int32_t exponent;        ///< the tile's elements are below 2^exponent
  std::int32_t round_exponent;  ///< as many such aggregates as blocks are below 2^round_exponent
  std::uint32_t flags;          ///< full_width_flag, remainder_flag: those that segments have
  /// The sums are in another window than the aggregates: all are the tile's prefix.
  bool reopened;
  /// Flags of parts that the sums lack: rest_flag; remainder_flag, if remainders that blocks have
  /// published, and those of the tile's segments below.
  std::uint32_t lacking;
  /// If they lack any: the rest, less the remainders that they have.
  std::uint32_t rest[full_width_digits];
  SegmentPrefix segment[max_segment_warps];

  __device__ bool lacks_remainders() const { return (lacking & remainder_flag) != 0; }
};

/// The resolver's account of remainders.
struct TakenRemainders {
  std::uint32_t digit[full_width_digits];  ///< remainders that its prefix has
  std::int32_t top;                        ///< the highest top of windows that left out others
  std::uint32_t idle_rounds;               ///< rounds in a row without further ones
};

/// A thread block's shared memory.
template <int Vectors>
struct alignas(1024) BlockMemory {
  std::uint32_t rounds;  ///< the block's tiles
  ExactAggregateRing ring;
  std::uint32_t* full_width_sums;  ///< in device memory: of segments, or their remainders
  std::int32_t window_top[window_rounds];
  TilePrefix tile_prefix[slot_rounds];
  std::uint32_t scratch_digits[full_width_digits];  ///< the resolver's
  TakenRemainders remainders;                       ///< that the resolver's prefix has
  std::int32_t first_exponent[max_segment_warps];   ///< above the elements of first segments
  std::uint32_t rounds_summed[max_segment_warps];   ///< counted by each segment warp
  std::uint32_t rounds_published;                   ///< counted by the publisher
  std::uint32_t rounds_resolved;                    ///< counted by the resolver
  std::uint32_t windows_chosen;                     ///< counted by the resolver
  SegmentMemory<Vectors> segment[1];                ///< one for each segment warp

  static constexpr std::size_t bytes(int segments) {
    return sizeof(BlockMemory) +
           static_cast<std::size_t>(segments - 1) * sizeof(SegmentMemory<Vectors>);
  }

  /// To be requested in each function, so that the compiler knows what kind of memory it is.
  static __device__ BlockMemory& own() { return *dynamic_shared<BlockMemory>(); }

  /// The digits of a segment's aggregate at full width.
  __device__ std::uint32_t* full_width_sum(std::uint32_t round, int warp) const {
    return full_width_sums +
           (round % segment_rounds * max_segment_warps + static_cast<unsigned>(warp)) *
               full_width_digits;
  }
};

template <class Size>
using BlockMemoryOf = BlockMemory<Size::vectors>;

/// Adds what a tile's first segments have at full width: all, or remainders.
template <int Vectors>
__device__ void add_full_width_sums(WarpSuperaccumulator& sum, BlockMemory<Vectors>& shared,
                                    std::uint32_t round, int segments) {
  const bool own =
      warp::lane() < segments && (shared.segment[warp::lane()].aggregate_of(round).flags &
                                  (full_width_flag | remainder_flag)) != 0;
  const std::uint32_t having = warp::ballot(own);
#pragma unroll 1
  for (int i = 0; i < segments; ++i)
    if ((having >> i & 1) != 0) sum.add(shared.full_width_sum(round, i));
}

/// Returns the sum of a tile's first segments.
template <int Vectors>
__device__ WarpSuperaccumulator sum_of_segments(BlockMemory<Vectors>& shared, std::uint32_t round,
                                                int segments) {
  WindowSum sum_in_window{};
  if (warp::lane() < segments) sum_in_window = shared.segment[warp::lane()].aggregate_of(round).sum;
  WarpSuperaccumulator sum{};
#pragma unroll 1
  for (int i = 0; i < window_slices; ++i) {
    std::int64_t own = 0;
#pragma unroll
    for (int k = 0; k < window_slices; ++k) own = k == i ? sum_in_window.slice[k] : own;
    own = warp::reduce_xor(own, warp::Plus{});
    sum.add(own, slice_unit(shared.window_top[round % window_rounds], i));
  }
  add_full_width_sums(sum, shared, round, segments);
  return sum;
}

}  // namespace warpfold::cuda::kernels
