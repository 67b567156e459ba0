#include <type_traits>

#include "cuda/runtime/cuda_error.hpp"
#include "cuda/scan/scan_sum_integer.hpp"
#include "cuda/scan/write_prefixes.cuh"
#include "cuda/tiles/scan_tile.cuh"

namespace warpfold::cuda::kernels {
namespace {

/// Sums within a tile: 2^12 elements of 32 bits stay below 2^44.
template <class T>
struct TileSum {
  using Value = std::conditional_t<sizeof(T) == 8, int128, std::int64_t>;

  __device__ Value value(T element) const { return element; }
  __device__ Value identity() const { return 0; }
  __device__ Value operator()(Value a, Value b) const { return a + b; }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    scan_sum_integer_kernel(const BlockView block, const int128* tile_sums, const int128 before,
                            const bool exclusive, const OverflowCheck check) {
  const Tile tile(block);
  const int128 base = before + tile_sums[blockIdx.x];
  const auto write = [&](std::int32_t place, const auto& sums) {
    Quad<int128> prefixes;
#pragma unroll
    for (int k = 0; k < scan_order::lane_elements; ++k)
      prefixes.element[k] = base + sums.element[k];
    write_prefixes(block, tile, place, prefixes, check);
  };
  scan_tile<T>(block, tile, TileSum<T>{}, 0, exclusive, write);
}

}  // namespace

void scan_sum_integer(const BlockView& block, const int128* tile_sums, int128 before,
                      bool exclusive, const OverflowCheck& check, cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (!is_floating_element<T>)
      scan_sum_integer_kernel<T><<<static_cast<unsigned>(block.tiles()), tile_threads, 0, stream>>>(
          block, tile_sums, before, exclusive, check);
  });
  check_launch("starting the scan on the GPU");
}

}  // namespace warpfold::cuda::kernels
