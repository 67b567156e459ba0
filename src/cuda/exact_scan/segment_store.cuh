#pragma once

#include <bit>
#include <cstdint>

#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/row_copy.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"

/// Stores of prefixes from a slot to the array.
namespace warpfold::cuda::kernels {

/// Stores a lane's vector of prefixes as far as its elements exist.
template <class OutBits, int Count>
__device__ void store_existing(const ScannedArray& array, OutBits* to, std::uint64_t place,
                               const LaneElements<OutBits, Count>& prefixes) {
#pragma unroll
  for (int k = 0; k < Count; ++k)
    if (array.exists(place + static_cast<unsigned>(k), 1)) to[k] = prefixes.element[k];
}

/// Begins to store the slot's prefixes in the warp's segment of a tile.
template <class In, class Out>
__device__ void start_store(const ScannedArray& array, Slot<SegmentLayout<In, Out>::vectors>& slot,
                            std::uint32_t tile) {
  using Layout = SegmentLayout<In, Out>;
  using OutBits = typename Layout::OutBits;
  constexpr int count = Layout::out_count;
  const auto prefixes = [&slot](int i) {
    return std::bit_cast<LaneElements<OutBits, count>>(slot.striped(i));
  };
  const std::uint64_t place = segment_place<Layout>(tile);
  OutBits* const own = static_cast<OutBits*>(array.output) + place + vector_place<count>(0);
  if (array.output_in_rows) {
    fence_shared_writes();
    __syncwarp();
  }
  if (array.output_in_rows && array.is_whole(tile)) {
    if (warp::lane() == 0) {
      copy_rows_to_global(array.output_rows, place * sizeof(Out) / row_bytes, &slot);
      commit_bulk_copies();
    }
  } else if (array.is_whole(tile)) {
#pragma unroll
    for (int i = 0; i < Layout::out_vectors; ++i)
      store_vector(own + i * warp::lanes * count, prefixes(i));
  } else {
#pragma unroll 1
    for (int i = 0; i < Layout::out_vectors; ++i)
      store_existing(array, own + i * warp::lanes * count, place + vector_place<count>(i),
                     prefixes(i));
  }
  __syncwarp();
}

}  // namespace warpfold::cuda::kernels
