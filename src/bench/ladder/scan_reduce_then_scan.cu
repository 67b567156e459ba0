#include "bench/ladder/grid.hpp"
#include "bench/ladder/scan_kernels.hpp"
#include "bench/ladder/scan_tile.cuh"
#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda::ladder {
namespace {

__global__ void __launch_bounds__(tile_threads)
    sum_tiles_kernel(const std::uint32_t* input, const std::uint64_t elements,
                     std::uint32_t* tile_sums) {
  __shared__ std::uint32_t warp_sums[tile_warps];
  const Tile tile(input, elements, blockIdx.x);
  const std::uint32_t tile_sum = sum_tile(tile, warp_sums);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = tile_sum;
}

__global__ void __launch_bounds__(tile_threads)
    scan_tiles_kernel(const std::uint32_t* input, const std::uint64_t elements,
                      const std::uint32_t* scanned_tile_sums, std::uint32_t* output) {
  __shared__ std::uint32_t warp_sums[tile_warps];
  __shared__ std::uint32_t warp_bases[tile_warps];
  Tile tile(input, elements, blockIdx.x);
  sum_tile(tile, warp_sums);
  if (warp::index() == 0)
    find_bases(warp_sums, blockIdx.x == 0 ? 0 : scanned_tile_sums[blockIdx.x - 1], warp_bases);
  tile.scan_segment();
  __syncthreads();
  tile.store(output, warp_bases[warp::index()]);
}

}  // namespace

void sum_tiles(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* tile_sums,
               cudaStream_t stream) {
  sum_tiles_kernel<<<covering_blocks(elements, tile_elements), tile_threads, 0, stream>>>(
      input, elements, tile_sums);
  check_launch("starting the sums of tiles");
}

void scan_tiles(const std::uint32_t* input, std::uint64_t elements,
                const std::uint32_t* scanned_tile_sums, std::uint32_t* output,
                cudaStream_t stream) {
  scan_tiles_kernel<<<covering_blocks(elements, tile_elements), tile_threads, 0, stream>>>(
      input, elements, scanned_tile_sums, output);
  check_launch("starting a scan of tiles");
}

}  // namespace warpfold::cuda::ladder
