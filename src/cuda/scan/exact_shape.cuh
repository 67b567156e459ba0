#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/placed_float.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/scan/exact_digits.cuh"
#include "cuda/scan/exact_scan.hpp"
#include "cuda/scan/exact_window.cuh"
#include "cuda/scan/row_copy.cuh"

/// A scan whose every prefix is the exact sum, rounded once, in one pass over the array.
///
/// A thread block's warps each take a segment of a tile. In step s a warp sums its segment of tile
/// s exactly, in the slices of the tile's window, and writes that of tile s - 2, when what is
/// before it is known: one more warp publishes the sums of tiles, as integers, and another adds up
/// those since the block's last tile. A prefix is what is before the segment plus what its upper
/// two slices hold, rounded with all that may be missing added, and subtracted; where these differ,
/// the segment's lanes compute in all slices, and at last with integers of full width.
namespace warpfold::cuda::kernels {

inline constexpr std::uint32_t exact_lag = 2;
/// One is read into while a segment is summed.
inline constexpr std::uint32_t exact_slots = exact_lag + 2;
/// A window is chosen when what is before the tile this many rounds earlier is known.
inline constexpr std::uint32_t window_lead = exact_lag + 1;
/// A tile is written up to exact_lag rounds after a later one is resolved.
inline constexpr std::uint32_t window_rounds = std::bit_ceil(window_lead + exact_lag + 1);

inline constexpr int max_segment_warps = 10;
/// One publishes the sums of tiles, the other finds what is before them.
inline constexpr int helper_warps = 2;
inline constexpr int max_block_threads = (max_segment_warps + helper_warps) * warp::lanes;
/// Sums of segments are read by other warps, which may have yet to write a tile when the warp sums
/// one of five rounds later.
inline constexpr std::uint32_t total_rounds = std::bit_ceil(2 * exact_lag + 2);
/// Those of a block's segments, in device memory.
inline constexpr std::uint32_t block_segment_digits = total_rounds * max_segment_warps * all_digits;

/// An output element of 16 bits, in a format that the kernel learns when it runs: one kernel does
/// for all.
struct AnyFloat16 {
  std::uint16_t bits;
};

/// The bits that a result is rounded to, or more.
template <class Out>
inline constexpr int output_bits = significand_bits<Out>;
template <>
inline constexpr int output_bits<AnyFloat16> = significand_bits<Float16>;

/// A placed float times `scale` is the element: for doubles that are not placed.
template <class In>
struct SummedFloat {
  using Placed = PlacedFloat<In>;

  static constexpr double scale =
      std::bit_cast<double>(std::uint64_t{power_word(Placed::shift)} << 32);
  static constexpr bool is_placed = Placed::shift != 0;

  /// sum + element, rounded once.
  __device__ static double added(double sum, double placed) {
    return is_placed ? __fma_rn(placed, scale, sum) : sum + placed;
  }
  /// element - taken.
  __device__ static double rest(double placed, double taken) {
    return is_placed ? __fma_rn(placed, scale, -taken) : placed - taken;
  }
  __device__ static int exponent_above(std::uint32_t word) {
    return warpfold::exponent_above(word) + Placed::shift;
  }
};

/// How much a segment is, in memory and in elements: all that the helpers' roles go by, which scans
/// of types of equal size share.
template <int Vectors, int LaneElements>
struct SegmentShape {
  using Segment = SegmentShape;

  static constexpr int vectors = Vectors;  ///< of a lane
  static constexpr int lane_elements = LaneElements;
  static constexpr int segment_elements = warp::lanes * lane_elements;

  /// A window's elements are below 2^(top - room): any tile's sum is below 2^(top - 3).
  static constexpr int room = std::bit_width(static_cast<unsigned>(segment_elements)) + 6;
  static_assert(max_segment_warps * segment_elements <= 1 << (room - 3));
  /// Sums of slices over a warp are whole in double.
  static_assert(segment_elements <= 1 << (53 - slice_bits + 1));
};

/// Fewer where 128 bytes would take more registers than a V100 gives.
template <class In, class Out>
inline constexpr std::size_t lane_elements_of = (sizeof(In) == 2 && sizeof(Out) == 4 ? 64 : 128) /
                                                std::max({sizeof(In), sizeof(Out), sizeof(float)});

template <class In, class Out>
inline constexpr std::size_t lane_vectors_of = lane_elements_of<In, Out>* std::max(sizeof(In),
                                                                                   sizeof(Out)) /
                                               sizeof(uint4);

/// Where a segment's elements lie in its lanes.
template <class In, class Out>
struct ExactShape : SegmentShape<lane_vectors_of<In, Out>, lane_elements_of<In, Out>> {
  using Base = typename ExactShape::Segment;
  using Summed = SummedFloat<In>;
  using Placed = PlacedFloat<In>;
  using InBits = typename Placed::Bits;
  using OutBits = typename PlacedFloat<Out>::Bits;

  static constexpr int in_count = static_cast<int>(sizeof(uint4) / sizeof(In));
  static constexpr int out_count = static_cast<int>(sizeof(uint4) / sizeof(Out));
  static constexpr int in_vectors = Base::lane_elements / in_count;
  static constexpr int out_vectors = Base::lane_elements / out_count;
  static constexpr int in_rows = static_cast<int>(Base::segment_elements * sizeof(In) / row_bytes);
  static constexpr int out_rows =
      static_cast<int>(Base::segment_elements * sizeof(Out) / row_bytes);
};

/// Vectors of a warp, on their way between the order of memory and that of lanes.
template <int Vectors>
struct WarpVectors {
  uint4 vector[Vectors * warp::lanes];

  /// Neither reads nor writes of eight lanes share banks.
  __device__ uint4& at(int i) { return vector[i ^ ((i >> 3) & 7)]; }

  /// at(i * warp::lanes + warp::lane()), where the compiler knows i.
  __device__ uint4& of_warp(int i) {
    return vector[i * warp::lanes + (warp::lane() ^ (warp::lane() >> 3) ^ (i & 1) * 4)];
  }

  /// at(warp::lane() * Count + j), where the compiler knows j.
  template <int Count>
  __device__ uint4& of_lane(int j) {
    static_assert(std::has_single_bit(static_cast<unsigned>(Count)) && Count <= 8);
    const int first = warp::lane() * Count;
    return vector[(first ^ ((first >> 3) & 7)) ^ j];
  }
};

/// A lane's prefixes, as its output elements' bits.
template <class Shape>
struct LanePrefixes {
  typename Shape::OutBits element[Shape::lane_elements];
};

/// By a whole warp, which has read what is in the slot.
template <class Shape>
__device__ void store_prefixes(WarpVectors<Shape::vectors>& slot,
                               const LanePrefixes<Shape>& prefixes) {
  struct Vectors {
    uint4 vector[Shape::out_vectors];
  };
  const auto vectors = std::bit_cast<Vectors>(prefixes);
#pragma unroll
  for (int j = 0; j < Shape::out_vectors; ++j)
    slot.template of_lane<Shape::out_vectors>(j) = vectors.vector[j];
}

/// An array that begins at a tile boundary; its elements before `first` and from `end` on don't
/// exist.
struct ScannedArray {
  RowArray input_rows;   ///< if input_in_rows
  RowArray output_rows;  ///< if output_in_rows
  const void* input;
  void* output;  ///< aligned to 16 bytes
  std::uint64_t first;
  std::uint64_t end;
  std::uint32_t tiles;
  std::uint32_t whole_begin;  ///< of the tiles all of whose elements exist
  std::uint32_t whole_end;
  bool input_aligned;  ///< to 16 bytes
  bool input_in_rows;
  bool output_in_rows;
  bool swapped;  ///< whether the input is in the other byte order
  bool exclusive;
  Float16Format output_format;  ///< if the output's elements have 16 bits
};

/// What is known of a segment.
struct SegmentTotal {
  WindowUnits units;        ///< 0 where it is in digits
  std::int32_t slices;      ///< that its elements take, or more than there are
  std::int32_t top;         ///< the elements are below 2^top
  std::uint32_t flags;      ///< of what is not finite, or in_digits_flag
  std::uint32_t scaled_by;  ///< its elements in the slot are times 2^-scaled_by
};

/// A warp's shared memory.
template <int Vectors>
struct alignas(1024) SegmentMemory {
  WarpVectors<Vectors> slot[exact_slots];             ///< each aligned to 1024 bytes
  Mbarrier arrived[exact_slots];                      ///< what is copied to the slot in rows
  double2 lanes_below[exact_slots][warp::lanes];      ///< sums of the upper two slices
  std::int64_t lane_third[exact_slots][warp::lanes];  ///< units of slice 2, if that was summed
  SegmentTotal total[total_rounds];
  std::uint32_t digit[all_digits];  ///< of what is before the segment

  __device__ SegmentTotal& total_of(std::uint32_t round) { return total[round % total_rounds]; }
};

/// What is before a segment.
struct SegmentStart {
  WindowUnits units;
  std::uint32_t flags;
  bool otherwise;  ///< whether the window's upper slices can't do
};

/// What is before a tile's segments; until that is known, the tile's sums below them.
struct TileStart {
  std::int32_t top;       ///< of the window that this is in
  std::int32_t exponent;  ///< the tile's elements are below 2^exponent
  std::int32_t reach;     ///< as many sums as the tile's, as there are blocks, are below 2^reach
  bool in_digits;         ///< whether some segments of the tile are
  /// Whether the window chosen does not do for the tile: all segments start where it does.
  bool again;
  bool any_rest;
  std::uint32_t rest[all_digits];  ///< if any: what the slices do not hold of what is before
  SegmentStart segment[max_segment_warps];
};

/// A block's shared memory.
template <int Vectors>
struct alignas(1024) BlockMemory {
  std::uint32_t rounds;   ///< as many tiles are the block's
  std::uint32_t* digits;  ///< in device memory: of the block's segments that are in digits
  std::int32_t top[window_rounds];
  TileStart start[exact_slots];
  std::uint32_t digit[all_digits];
  std::int32_t first_exponent[max_segment_warps];  ///< of powers of two above first segments
  std::uint32_t summed[max_segment_warps];         ///< a warp's segments, of so many rounds
  std::uint32_t published;                         ///< tiles of so many rounds
  std::uint32_t resolved;                          ///< likewise
  std::uint32_t windows;                           ///< chosen for so many rounds
  SegmentMemory<Vectors> segment[1];               ///< as many as it has warps that sum segments

  static constexpr std::size_t bytes(int segments) {
    return sizeof(BlockMemory) +
           static_cast<std::size_t>(segments - 1) * sizeof(SegmentMemory<Vectors>);
  }

  /// To be asked for in each function, so that the compiler knows what kind of memory it is.
  static __device__ BlockMemory& own() { return *dynamic_shared<BlockMemory>(); }

  /// The digits of a segment's sum.
  __device__ std::uint32_t* digits_of(std::uint32_t round, int warp) const {
    return digits +
           (round % total_rounds * max_segment_warps + static_cast<unsigned>(warp)) * all_digits;
  }
};

template <class Shape>
using TileMemory = BlockMemory<Shape::vectors>;

__device__ inline int segment_warps() {
  return static_cast<int>(blockDim.x) / warp::lanes - helper_warps;
}

}  // namespace warpfold::cuda::kernels
