#pragma once

#include <cstdint>

#include "bench/ladder/scan_kernels.hpp"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::ladder {

inline constexpr int tile_warps = tile_threads / warp::lanes;
inline constexpr int tile_rows = tile_elements / tile_threads;

struct Plus {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

/// A block's tile in the registers of its threads: each warp has a segment of it, row by row, a
/// lane one element of each row. Past the end of the array it is zero.
class Tile {
 public:
  __device__ Tile(const std::uint32_t* input, std::uint64_t elements, std::uint64_t tile)
      : first_(tile * tile_elements + place()), count_(rows_within(elements)) {
#pragma unroll
    for (int row = 0; row < tile_rows; ++row)
      value_[row] = row < count_ ? input[first_ + row * warp::lanes] : 0;
  }

  /// Of the lane's own elements.
  __device__ std::uint32_t lane_sum() const {
    std::uint32_t sum = 0;
#pragma unroll
    for (const std::uint32_t value : value_) sum += value;
    return sum;
  }

  /// Replaces the elements by their inclusive prefix sums in the warp's segment.
  __device__ void scan_segment() {
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t& value : value_) {
      value = sum + warp::inclusive_scan(value, Plus{});
      sum = warp::shuffle(value, warp::lanes - 1);
    }
  }

  __device__ void store(std::uint32_t* output, std::uint32_t base) const {
#pragma unroll
    for (int row = 0; row < tile_rows; ++row)
      if (row < count_) output[first_ + row * warp::lanes] = base + value_[row];
  }

 private:
  /// Of the lane's first element in the tile.
  __device__ static std::uint64_t place() {
    return static_cast<std::uint64_t>(warp::index() * tile_rows * warp::lanes + warp::lane());
  }

  /// In how many rows the lane's element exists.
  __device__ int rows_within(std::uint64_t elements) const {
    if (first_ >= elements) return 0;
    const std::uint64_t rows = (elements - first_ + warp::lanes - 1) / warp::lanes;
    return rows < tile_rows ? static_cast<int>(rows) : tile_rows;
  }

  std::uint64_t first_;
  int count_;
  std::uint32_t value_[tile_rows];
};

__device__ inline std::uint32_t own_warp_sum(const std::uint32_t* warp_sums) {
  return warp::lane() < tile_warps ? warp_sums[warp::lane()] : 0;
}

/// By all threads, each of which gets the tile's sum; leaves its warps' sums in shared memory.
__device__ inline std::uint32_t sum_tile(const Tile& tile, std::uint32_t* warp_sums) {
  const std::uint32_t warp_sum = warp::reduce(tile.lane_sum(), Plus{});
  if (warp::lane() == 0) warp_sums[warp::index()] = warp_sum;
  __syncthreads();
  return warp::reduce_xor(own_warp_sum(warp_sums), Plus{});
}

/// By one warp: what precedes each warp of a tile, given what precedes the tile.
__device__ inline void find_bases(const std::uint32_t* warp_sums, std::uint32_t before,
                                  std::uint32_t* warp_bases) {
  const std::uint32_t own = own_warp_sum(warp_sums);
  const std::uint32_t inclusive = warp::inclusive_scan(own, Plus{});
  if (warp::lane() < tile_warps) warp_bases[warp::lane()] = before + inclusive - own;
}

}  // namespace warpfold::cuda::ladder
