#include "cuda/primitives/comparable.cuh"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/tiles/tile.cuh"
#include "cuda/tiles/tile_totals.hpp"

namespace warpfold::cuda::kernels {
namespace {

/// By one thread for each kind.
__device__ void note_non_finite(NonFinite& non_finite, int kind, unsigned count) {
  if (count == 0) return;
  atomicAdd(&non_finite.count[kind], static_cast<unsigned long long>(count));
  atomicMin(&non_finite.first_tile[kind], static_cast<unsigned long long>(blockIdx.x));
}

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    integer_tile_totals_kernel(const BlockView block, int128* sums) {
  __shared__ int128 segment_sum[scan_order::tile_segments];
  const Tile tile(block);
  int128 sum = 0;
#pragma unroll
  for (int row = 0; row < scan_order::tile_rows; ++row) {
    const Quad<T> quad = read_quad<T>(block, tile, place_in_tile(row));
#pragma unroll
    for (const T element : quad.element) sum += element;
  }
  sum = warp::reduce(sum, Plus{});
  if (warp::lane() == 0) segment_sum[warp::index()] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int segment = 1; segment < scan_order::tile_segments; ++segment) sum += segment_sum[segment];
  sums[blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    extremum_tile_totals_kernel(const BlockView block, const bool maximum, Extremum* extrema,
                                NonFinite* non_finite) {
  __shared__ Extremum segment_best[scan_order::tile_segments];
  __shared__ unsigned segment_nans[scan_order::tile_segments];
  const Tile tile(block);
  Best<Comparable<T>> best;
  unsigned nans = 0;
#pragma unroll
  for (int row = 0; row < scan_order::tile_rows; ++row) {
    const std::int32_t place = place_in_tile(row);
    const Quad<T> quad = read_quad<T>(block, tile, place);
#pragma unroll
    for (int k = 0; k < scan_order::lane_elements; ++k) {
      if (k >= tile.present(place)) continue;
      const auto value = comparable(quad.element[k]);
      const auto offset = static_cast<std::uint32_t>(place + k);
      if (is_nan(value))
        ++nans;
      else if (maximum)
        best.take_higher(value, offset);
      else
        best.take_lower(value, offset);
    }
  }
  const Extremum own = maximum ? best.maximum(tile.first) : best.minimum(tile.first);
  Extremum result = warp::reduce(own, BetterExtremum{});
  nans = warp::reduce(nans, Plus{});
  if (warp::lane() == 0) {
    segment_best[warp::index()] = result;
    segment_nans[warp::index()] = nans;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int segment = 1; segment < scan_order::tile_segments; ++segment) {
    result.merge(segment_best[segment]);
    nans += segment_nans[segment];
  }
  note_non_finite(*non_finite, 0, nans);
  extrema[blockIdx.x] = result;
}

}  // namespace

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (!is_floating_element<T>)
      integer_tile_totals_kernel<T>
          <<<static_cast<unsigned>(block.tiles()), tile_threads, 0, stream>>>(block, sums);
  });
  check_launch("starting the fold of a block on the GPU");
}

void extremum_tile_totals(const BlockView& block, bool maximum, Extremum* extrema,
                          NonFinite* non_finite, cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    extremum_tile_totals_kernel<decltype(element)>
        <<<static_cast<unsigned>(block.tiles()), tile_threads, 0, stream>>>(block, maximum, extrema,
                                                                            non_finite);
  });
  check_launch("starting the fold of a block on the GPU");
}

}  // namespace warpfold::cuda::kernels
