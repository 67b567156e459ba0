#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// A segment's elements, later its prefixes, in shared memory: read and written in a striped
/// arrangement (vector i of lane l is number 32 i + l) or a blocked one (number Count l + i).
template <int Vectors>
struct Slot {
  uint4 vector[Vectors * warp::lanes];

  /// Neither reads nor writes of eight lanes share banks.
  __device__ uint4& at(int i) { return vector[i ^ ((i >> 3) & 7)]; }

  /// at(i * warp::lanes + warp::lane()), where the compiler knows i.
  __device__ uint4& striped(int i) {
    return vector[i * warp::lanes + (warp::lane() ^ (warp::lane() >> 3) ^ (i & 1) * 4)];
  }

  /// at(warp::lane() * Count + j), where the compiler knows j.
  template <int Count>
  __device__ uint4& blocked(int j) {
    static_assert(std::has_single_bit(static_cast<unsigned>(Count)) && Count <= 8);
    const int first = warp::lane() * Count;
    return vector[(first ^ ((first >> 3) & 7)) ^ j];
  }
};

/// A lane's prefixes, as its output elements' bits.
template <class Layout>
struct LanePrefixes {
  typename Layout::OutBits element[Layout::lane_elements];
};

/// Stores prefixes in a slot. Called by a whole warp, which has read the slot's elements.
template <class Layout>
__device__ void store_prefixes(Slot<Layout::vectors>& slot, const LanePrefixes<Layout>& prefixes) {
  struct Vectors {
    uint4 vector[Layout::out_vectors];
  };
  const auto vectors = std::bit_cast<Vectors>(prefixes);
#pragma unroll
  for (int j = 0; j < Layout::out_vectors; ++j)
    slot.template blocked<Layout::out_vectors>(j) = vectors.vector[j];
}

/// Calls visit(bits, k) for each of a lane's elements in the slot.
template <class Layout, class Visit>
__device__ void for_each_in_slot(Slot<Layout::vectors>& slot, Visit visit) {
#pragma unroll 1
  for (int j = 0; j < Layout::in_vectors; ++j) {
    const auto elements =
        std::bit_cast<typename Layout::InElements>(slot.at(warp::lane() * Layout::in_vectors + j));
#pragma unroll
    for (int k = 0; k < Layout::in_count; ++k) visit(elements.element[k], j * Layout::in_count + k);
  }
}

/// Replaces the slot's elements by what prefix_after() returns, `AtOnce` vectors at a time.
template <class In, class Out, int AtOnce = SegmentLayout<In, Out>::in_vectors, class PrefixAfter>
__device__ void replace_elements(Slot<SegmentLayout<In, Out>::vectors>& slot,
                                 PrefixAfter& prefix_after) {
  using Layout = SegmentLayout<In, Out>;
  using Elements = typename Layout::InElements;
  constexpr int vectors = Layout::in_vectors;
  if constexpr (sizeof(In) == sizeof(Out)) {
    uint4 next = slot.template blocked<vectors>(0);
#pragma unroll AtOnce
    for (int j = 0; j < Layout::in_vectors; ++j) {
      const auto elements = std::bit_cast<Elements>(next);
      if (j + 1 < Layout::in_vectors) next = slot.template blocked<vectors>(j + 1);
      typename Layout::OutElements prefixes;
#pragma unroll
      for (int k = 0; k < Layout::out_count; ++k)
        prefixes.element[k] = prefix_after(elements.element[k]);
      slot.template blocked<vectors>(j) = packed(prefixes);
    }
  } else {
    LanePrefixes<Layout> prefixes;
#pragma unroll
    for (int j = 0; j < Layout::in_vectors; ++j) {
      const auto elements = std::bit_cast<Elements>(slot.template blocked<vectors>(j));
#pragma unroll
      for (int k = 0; k < Layout::in_count; ++k)
        prefixes.element[j * Layout::in_count + k] = prefix_after(elements.element[k]);
    }
    __syncwarp();
    store_prefixes(slot, prefixes);
  }
}

/// Multiplies the slot's elements by 2^-downscale_exponent, unless that would round some; returns
/// by which exponent they are less.
template <class In, class Layout>
__device__ int downscale(Slot<Layout::vectors>& slot) {
  if constexpr (std::is_same_v<In, double>) {
    bool exact = true;
#pragma unroll 1
    for (int i = 0; i < Layout::in_vectors; ++i) {
      const auto pair = std::bit_cast<LaneElements<double, 2>>(slot.striped(i));
      for (const double each : pair.element)
        exact = exact && (each == 0.0 || magnitude_word(each) >= power_word(-800));
    }
    if (!warp::all(exact)) return 0;
#pragma unroll 1
    for (int i = 0; i < Layout::in_vectors; ++i) {
      auto pair = std::bit_cast<LaneElements<double, 2>>(slot.striped(i));
      for (double& each : pair.element) each *= 0x1p-128;
      slot.striped(i) = packed(pair);
    }
    __syncwarp();
    return downscale_exponent;
  }
  return 0;
}

/// Multiplies the slot's prefixes, doubles, by 2^downscale_exponent.
template <class Layout>
__device__ void upscale(Slot<Layout::vectors>& slot) {
#pragma unroll 1
  for (int i = 0; i < Layout::out_vectors; ++i) {
    auto pair = std::bit_cast<LaneElements<double, 2>>(slot.striped(i));
    for (double& each : pair.element) each *= 0x1p128;
    slot.striped(i) = packed(pair);
  }
  __syncwarp();
}

}  // namespace warpfold::cuda::kernels
