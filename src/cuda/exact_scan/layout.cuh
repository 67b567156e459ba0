#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/exact_scan/row_copy.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/placed_float.hpp"
#include "cuda/primitives/warp.cuh"
#include "warpfold/core/element_type.hpp"

/// The element types, the warps of a thread block, and how a segment's elements are laid out.
namespace warpfold::cuda::kernels {

/// Each of these warps loads, sums and writes one segment of every tile of its thread block.
inline constexpr int max_segment_warps = 10;
/// The publisher and the resolver.
inline constexpr int helper_warps = 2;

/// Returns how many segment warps a thread block has at most in code for an architecture (as
/// __CUDA_ARCH__). GPUs before sm_80 have shared memory for four, and these hold elements in
/// registers that more warps would lack.
constexpr int most_segment_warps(int architecture) {
  return architecture < 800 ? 4 : max_segment_warps;
}

#ifdef __CUDA_ARCH__
inline constexpr int max_block_threads =
    (most_segment_warps(__CUDA_ARCH__) + helper_warps) * warp::lanes;
#else
inline constexpr int max_block_threads = (max_segment_warps + helper_warps) * warp::lanes;
#endif

__device__ inline int segment_warps() {
  return static_cast<int>(blockDim.x) / warp::lanes - helper_warps;
}

/// An output element of 16 bits, in a format that the kernel learns when it runs: one kernel does
/// for all.
struct AnyFloat16 {
  std::uint16_t bits;
};

/// The significand bits of an output element, or more.
template <class Out>
inline constexpr int output_bits = significand_bits<Out>;
template <>
inline constexpr int output_bits<AnyFloat16> = significand_bits<Float16>;

/// Arithmetic with placed floats: a placed float times `scale` is the element.
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

/// Elements have few enough bits for one slice.
template <class In>
inline constexpr bool has_one_slice = !std::is_same_v<In, double>;

/// The size of a segment. The publisher and the resolver depend on nothing else, so that scans of
/// types of equal size share their code.
template <int Vectors, int LaneElements>
struct SegmentSize {
  using Size = SegmentSize;

  static constexpr int vectors = Vectors;  ///< vectors per lane
  static constexpr int lane_elements = LaneElements;
  static constexpr int segment_elements = warp::lanes * lane_elements;

  /// A window's elements are below 2^(top - headroom): any tile's sum is below 2^(top - 3).
  static constexpr int segment_bits = std::bit_width(static_cast<unsigned>(segment_elements)) - 1;
  static constexpr int headroom = segment_bits + 7;
  static_assert(max_segment_warps * segment_elements <= 1 << (headroom - 3));
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

/// Vectors of 16 bytes and rows of 128 that a segment's elements and prefixes divide into.
template <class In, class Out>
struct SegmentLayout : SegmentSize<lane_vectors_of<In, Out>, lane_elements_of<In, Out>> {
  using Base = typename SegmentLayout::Size;
  using Summed = SummedFloat<In>;
  using Placed = PlacedFloat<In>;
  using InBits = typename Placed::Bits;
  using OutBits = typename PlacedFloat<Out>::Bits;

  static constexpr int in_count = static_cast<int>(sizeof(uint4) / sizeof(In));
  static constexpr int out_count = static_cast<int>(sizeof(uint4) / sizeof(Out));
  using InElements = LaneElements<InBits, in_count>;  ///< elements of a vector
  using OutElements = LaneElements<OutBits, out_count>;
  static constexpr int in_vectors = Base::lane_elements / in_count;
  static constexpr int out_vectors = Base::lane_elements / out_count;
  static constexpr int in_rows = static_cast<int>(Base::segment_elements * sizeof(In) / row_bytes);
  static constexpr int out_rows =
      static_cast<int>(Base::segment_elements * sizeof(Out) / row_bytes);
};

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
  std::uint32_t whole_begin;  ///< begin of the tiles all of whose elements exist
  std::uint32_t whole_end;
  bool input_aligned;  ///< to 16 bytes
  bool input_in_rows;
  bool output_in_rows;
  bool swapped;  ///< whether the input is in the other byte order
  bool exclusive;
  Float16Format output_format;  ///< if the output's elements have 16 bits

  /// Returns whether all elements of a tile exist.
  __device__ bool is_whole(std::uint32_t tile) const {
    return tile >= whole_begin && tile < whole_end;
  }
  __device__ bool exists(std::uint64_t place, unsigned elements) const {
    return place >= first && place + elements <= end;
  }
};

/// Returns where in the array the warp's segment of a tile begins.
template <class Size>
__device__ std::uint64_t segment_place(std::uint32_t tile) {
  return (std::uint64_t{tile} * static_cast<unsigned>(segment_warps()) +
          static_cast<unsigned>(warp::index())) *
         Size::segment_elements;
}

/// Returns where in the segment the lane's striped vector i of `Count` elements begins.
template <int Count>
__device__ std::uint32_t vector_place(int i) {
  return static_cast<std::uint32_t>((i * warp::lanes + warp::lane()) * Count);
}

}  // namespace warpfold::cuda::kernels
