#include <algorithm>

#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/certified_scan.cuh"
#include "cuda/tiles/exact_scan.cuh"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"

namespace warpfold::cuda::kernels {
namespace {

template <class T, class Out>
__global__ void __launch_bounds__(part_threads, 2)
    scan_float_kernel(const BlockView block, const StartedTiles tiles, const TileList put_off,
                      const bool exclusive) {
  __shared__ PartStorage storage[part_warps];
  const Tile tile(block);
  const TileStart start = tiles.start[blockIdx.x];
  const auto elements = read_part<T>(block, tile, storage[warp::index()]);
  CertifiedPart::Values values;
#pragma unroll
  for (int k = 0; k < part_elements; ++k) values.element[k] = widened(elements.element[k]);
  if (start.any_huge == 0 &&
      scan_certified<Out>(block, tile, start, values, exclusive, storage[warp::index()]))
    return;
  if (threadIdx.x == 0) put_off.tile[atomicAdd(put_off.count, 1u)] = blockIdx.x;
}

/// Enough to fill any GPU; they take turns at the tiles put off, of which there are few.
constexpr std::uint64_t put_off_blocks = 1024;

template <class T, class Out>
__global__ void __launch_bounds__(column_threads)
    scan_put_off_kernel(const BlockView block, const StartedTiles tiles, const TileList put_off,
                        const bool exclusive) {
  __shared__ DigitColumns columns;
  const std::uint32_t count = *put_off.count;
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const std::uint32_t index = put_off.tile[i];
    const Tile tile(block, index);
    ExactPart<T>(block, tile)
        .template scan<Out>(tiles.start[index],
                            tiles.base_limbs + std::uint64_t{index} * ExactSum::limbs, exclusive,
                            columns);
  }
}

template <class T, class Out>
void start(const BlockView& block, const StartedTiles& tiles, const TileList& put_off,
           bool exclusive, cudaStream_t stream) {
  launch("starting the scan on the GPU", scan_float_kernel<T, Out>,
         {block.tiles(), part_threads, stream}, block, tiles, put_off, exclusive);
  launch("starting the scan on the GPU", scan_put_off_kernel<T, Out>,
         {std::min(block.tiles(), put_off_blocks), column_threads, stream}, block, tiles, put_off,
         exclusive);
}

}  // namespace

void scan_sum_float(const BlockView& block, const StartedTiles& tiles, const TileList& put_off,
                    bool exclusive, cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    visit_element_type(block.output_type, [&](auto output) {
      using T = decltype(element);
      using Out = decltype(output);
      if constexpr (is_floating_element<T> && is_floating_element<Out>)
        start<T, Out>(block, tiles, put_off, exclusive, stream);
    });
  });
}

}  // namespace warpfold::cuda::kernels
