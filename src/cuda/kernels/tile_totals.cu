#include <cmath>

#include "cuda/cuda_error.hpp"
#include "cuda/kernels/comparable.hpp"
#include "cuda/kernels/expansion.hpp"
#include "cuda/kernels/tile.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "warpfold/core/ordered_key.hpp"

namespace warpfold::cuda::kernels {
namespace {

/// By one thread for each kind.
__device__ void note_non_finite(NonFinite& non_finite, int kind, unsigned count) {
  if (count == 0) return;
  atomicAdd(&non_finite.count[kind], static_cast<unsigned long long>(count));
  atomicMin(&non_finite.first_tile[kind], static_cast<unsigned long long>(blockIdx.x));
}

/// A tile's exact sum and traits as the threads of its block gather them.
struct FloatTile {
  ExactSum sum;
  TileTraits traits;
  unsigned count[NonFinite::kinds];

  /// By all threads.
  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < ExactSum::limbs; i += blockDim.x) sum.limb[i] = 0;
    if (threadIdx.x < NonFinite::kinds) count[threadIdx.x] = 0;
    constexpr int none = scan_order::tile_elements;
    if (threadIdx.x == 0) traits = {{none, none, none}, 0};
  }

  /// An element of at least scan_order::huge, or not a number.
  __device__ void absorb_exception(double x, std::int32_t place) {
    if (x != x) {
      atomicAdd(&count[0], 1u);
      atomicMin(&traits.first.nan, place);
    } else if (std::isinf(x)) {
      atomicAdd(&count[x > 0 ? 1 : 2], 1u);
      atomicMin(x > 0 ? &traits.first.positive_infinity : &traits.first.negative_infinity, place);
    } else {
      atomicOr(&traits.any_huge, 1);
      add_to_shared(sum, x);
    }
  }

  /// Limb `i` after one step of carrying: fewer than 2^14 additions of less than 2^32 leave a carry
  /// below 2^14. The top limb holds carries only.
  __device__ std::int64_t carried_limb(int i) const {
    const std::int64_t digit = i < ExactSum::limbs - 1 ? sum.limb[i] & 0xffffffff : sum.limb[i];
    return i == 0 ? digit : digit + (sum.limb[i - 1] >> 32);
  }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    float_tile_totals_kernel(const BlockView block, const FloatTileTotals totals,
                             NonFinite* non_finite) {
  __shared__ FloatTile shared;
  shared.clear();
  __syncthreads();
  const Tile tile(block);
  Expansion<2, ExactSum> sum(shared.sum);
#pragma unroll
  for (int row = 0; row < scan_order::tile_rows; ++row) {
    const std::int32_t place = place_in_tile(row);
    const Quad<T> quad = read_quad<T>(block, tile, place);
#pragma unroll
    for (int k = 0; k < scan_order::lane_elements; ++k) {
      const double x = widened(quad.element[k]);
      if (std::fabs(x) < scan_order::huge)
        sum.push(x);
      else
        shared.absorb_exception(x, place + k);
    }
  }
  __syncwarp();
  sum.flush();
  __syncthreads();
  if (threadIdx.x < ExactSum::limbs)
    totals.limbs[static_cast<std::uint64_t>(threadIdx.x) * gridDim.x + blockIdx.x] =
        shared.carried_limb(static_cast<int>(threadIdx.x));
  if (threadIdx.x < NonFinite::kinds)
    note_non_finite(*non_finite, static_cast<int>(threadIdx.x), shared.count[threadIdx.x]);
  if (threadIdx.x == 0) totals.traits[blockIdx.x] = shared.traits;
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

template <bool Floating, class Launch>
void launch_for(const BlockView& block, Launch&& launch) {
  visit_element_type(block.format.type, [&](auto element) {
    if constexpr (is_floating_element<decltype(element)> == Floating)
      launch(element, static_cast<unsigned>(block.tiles()));
  });
  check_launch("starting the fold of a block on the GPU");
}

}  // namespace

void float_tile_totals(const BlockView& block, const FloatTileTotals& totals, NonFinite* non_finite,
                       cudaStream_t stream) {
  launch_for<true>(block, [&](auto element, unsigned tiles) {
    float_tile_totals_kernel<decltype(element)>
        <<<tiles, tile_threads, 0, stream>>>(block, totals, non_finite);
  });
}

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream) {
  launch_for<false>(block, [&](auto element, unsigned tiles) {
    integer_tile_totals_kernel<decltype(element)><<<tiles, tile_threads, 0, stream>>>(block, sums);
  });
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
