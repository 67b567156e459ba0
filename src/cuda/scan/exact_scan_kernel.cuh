#pragma once

#include <cstdint>

#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/scan/exact_lookback.cuh"
#include "cuda/scan/exact_records.cuh"
#include "cuda/scan/exact_segment.cuh"
#include "cuda/scan/exact_shape.cuh"

namespace warpfold::cuda::kernels {

struct ExactScanParameters {
  ScannedArray array;
  ExactRecords records;
  std::uint32_t* digits;  ///< block_segment_digits for each block
  ExactCarry carry;
};

__device__ inline std::uint32_t tile_of(std::uint32_t round) {
  return round * gridDim.x + blockIdx.x;
}

/// Says how many tiles are the block's: one at least.
__device__ inline std::uint32_t rounds_of(std::uint32_t tiles) {
  return (tiles - 1 - blockIdx.x) / gridDim.x + 1;
}

/// Waits until `counter` is above `round`. By a whole warp.
__device__ inline void wait_for(const std::uint32_t* counter, std::uint32_t round) {
  while (!warp::all(load_acquire(counter) > round)) __nanosleep(20);
}

/// Counts a round, when all lanes are done with it.
__device__ inline void count_round(std::uint32_t* counter, std::uint32_t round) {
  __syncwarp();
  if (warp::lane() == 0) store_release(counter, round + 1);
}

/// A barrier of the block that warps come to at different places in the code.
__device__ inline void meet_block() { __barrier_sync(0); }

// The helpers' roles are called, so that their registers are not those of the role that is many
// warps': that is part of the kernel, as a function may not use all registers.

template <class In, class Out>
__device__ __forceinline__ void scan_segments(const ScannedArray& array) {
  TileMemory<ExactShape<In, Out>>& tile = TileMemory<ExactShape<In, Out>>::own();
  SegmentPort<In, Out> port(array);
  SegmentScanner<In, Out> segment(array);
  port.begin();
  port.fetch(0, tile_of(0));
  port.fetch(1, tile_of(1));
  port.arrive(0);
  segment.begin();
  meet_block();
  meet_block();
  const std::uint32_t rounds = tile.rounds;
#pragma unroll 1
  for (std::uint32_t step = 0; step < rounds + exact_lag; ++step) {
    if (step < rounds) {
      if (step > 0) port.arrive(step);
      segment.sum(step);
      count_round(&tile.summed[warp::index()], step);
    }
    if (step >= exact_lag) {
      wait_for(&tile.resolved, step - exact_lag);
      segment.write(step - exact_lag, tile_of(step - exact_lag));
    }
    if (step + 1 < rounds) wait_for(&tile.windows, step + 1);
    port.fetch(step + 2, tile_of(step + 2));
  }
  port.finish();
}

template <class Shape>
__device__ __noinline__ void publish_tiles(const ExactRecords& records) {
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  const std::uint32_t* const summed = &tile.summed[min(warp::lane(), segment_warps() - 1)];
  TilePublisher<Shape> publisher(records);
  meet_block();
  meet_block();
#pragma unroll 1
  for (std::uint32_t round = 0; round < tile.rounds; ++round) {
    wait_for(summed, round);
    publisher.publish(round);
    count_round(&tile.published, round);
  }
}

template <class Shape>
__device__ __noinline__ void resolve_tiles(const ExactRecords& records, const ExactCarry& carry) {
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  meet_block();
  TileResolver<Shape> resolver(records, carry);
  meet_block();
#pragma unroll 1
  for (std::uint32_t round = 0; round < tile.rounds; ++round) {
    LaneRecords read{};
    resolver.load(round, read);
    wait_for(&tile.published, round);
    resolver.resolve(round, read);
    count_round(&tile.resolved, round);
    resolver.choose_window(round + window_lead, round);
    count_round(&tile.windows, round + window_lead);
  }
}

template <class In, class Out>
__global__ void __launch_bounds__(max_block_threads, 1)
    exact_scan_kernel(const __grid_constant__ ExactScanParameters scan) {
  using Shape = ExactShape<In, Out>;
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  if (threadIdx.x == 0) {
    tile.rounds = rounds_of(scan.array.tiles);
    tile.published = 0;
    tile.resolved = 0;
    tile.windows = window_lead;
    tile.digits = scan.digits + blockIdx.x * block_segment_digits;
  }
  if (threadIdx.x < max_segment_warps) tile.summed[threadIdx.x] = 0;
  __syncthreads();
  if (warp::index() < segment_warps())
    scan_segments<In, Out>(scan.array);
  else if (warp::index() == segment_warps())
    publish_tiles<typename Shape::Segment>(scan.records);
  else
    resolve_tiles<typename Shape::Segment>(scan.records, scan.carry);
}

}  // namespace warpfold::cuda::kernels
