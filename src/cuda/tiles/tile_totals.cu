#include "cuda/tiles/tile_scans.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/tile.cuh"

namespace warpfold::cuda::kernels {
namespace {

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    integer_tile_totals_kernel(const BlockView block, int128* sums) {
  __shared__ int128 segment_sum[tile_segments];
  const Tile tile(block);
  int128 sum = 0;
#pragma unroll
  for (int row = 0; row < tile_rows; ++row) {
    const Quad<T> quad = read_quad<T>(block, tile, place_in_tile(row));
#pragma unroll
    for (const T element : quad.element) sum += element;
  }
  sum = warp::reduce(sum, Plus{});
  if (warp::lane() == 0) segment_sum[warp::index()] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int segment = 1; segment < tile_segments; ++segment) sum += segment_sum[segment];
  sums[blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    extremum_tile_totals_kernel(const BlockView block, const bool maximum, Extremum* extrema,
                                unsigned long long* first_nan) {
  __shared__ Extremum segment_best[tile_segments];
  __shared__ bool segment_nan[tile_segments];
  const Tile tile(block);
  Best<Comparable<T>> best;
  bool nan = false;
#pragma unroll
  for (int row = 0; row < tile_rows; ++row) {
    const std::int32_t place = place_in_tile(row);
    const Quad<T> quad = read_quad<T>(block, tile, place);
#pragma unroll
    for (int k = 0; k < quad_elements; ++k) {
      if (k >= tile.present(place)) continue;
      const auto value = comparable(quad.element[k]);
      const auto offset = static_cast<std::uint32_t>(place + k);
      if (is_nan(value))
        nan = true;
      else if (maximum)
        best.take_higher(value, offset);
      else
        best.take_lower(value, offset);
    }
  }
  const Extremum own = maximum ? best.maximum(tile.first) : best.minimum(tile.first);
  Extremum result = warp::reduce(own, BetterExtremum{});
  nan = warp::any(nan);
  if (warp::lane() == 0) {
    segment_best[warp::index()] = result;
    segment_nan[warp::index()] = nan;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int segment = 1; segment < tile_segments; ++segment) {
    result.merge(segment_best[segment]);
    nan = nan || segment_nan[segment];
  }
  if (nan) atomicMin(first_nan, static_cast<unsigned long long>(blockIdx.x));
  extrema[blockIdx.x] = result;
}

constexpr std::uint64_t max_prefix_threads = warp::lanes * warp::lanes;

struct Addition : Plus {
  __device__ static int128 identity() { return 0; }
};

struct ExtremumChoice : BetterExtremum {
  __device__ static Extremum identity() { return Extremum::none(); }
};

/// One thread block scans a chunk of as many values as it has threads at a time.
template <class Value, class Operator>
__global__ void __launch_bounds__(max_prefix_threads)
    exclusive_prefix_kernel(Value* values, const std::uint64_t count) {
  __shared__ Value warp_total[warp::lanes];
  const Operator operation{};
  const int warp_count = static_cast<int>(blockDim.x) / warp::lanes;
  Value carry = Operator::identity();
  for (std::uint64_t first = 0; first < count; first += blockDim.x) {
    const std::uint64_t i = first + threadIdx.x;
    const Value own = i < count ? values[i] : Operator::identity();
    const Value inclusive = warp::inclusive_scan(own, operation);
    if (warp::lane() == warp::lanes - 1) warp_total[warp::index()] = inclusive;
    __syncthreads();
    const Value of_warp =
        warp::lane() < warp_count ? warp_total[warp::lane()] : Operator::identity();
    const Value warps = warp::inclusive_scan(of_warp, operation);
    const Value chunk = warp::shuffle(warps, warp_count - 1);
    const Value warps_below = warp::shuffle(warps, warp::index() == 0 ? 0 : warp::index() - 1);
    const Value lanes_below = warp::shuffle_up(inclusive, 1);
    Value prefix = carry;
    if (warp::index() != 0) prefix = operation(prefix, warps_below);
    if (warp::lane() != 0) prefix = operation(prefix, lanes_below);
    if (i < count) values[i] = prefix;
    carry = operation(carry, chunk);
    __syncthreads();
  }
}

template <class Operator, class Value>
void exclusive_prefixes(Value* values, std::uint64_t count, cudaStream_t stream) {
  const std::uint64_t lanes = round_up(std::max<std::uint64_t>(count, 1), warp::lanes);
  launch("starting the prefixes of tiles on the GPU", exclusive_prefix_kernel<Value, Operator>,
         {1, static_cast<int>(std::min(lanes, max_prefix_threads)), stream}, values, count);
}

}  // namespace

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream) {
  visit_kernel_type(block.format.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (!is_floating_element<T>)
      launch("starting the reduction of a block on the GPU", integer_tile_totals_kernel<T>,
             {block.tiles(), tile_threads, stream}, block, sums);
  });
}

void extremum_tile_totals(const BlockView& block, bool maximum, Extremum* extrema,
                          unsigned long long* first_nan, cudaStream_t stream) {
  visit_kernel_type(block.format.type, [&](auto element) {
    launch("starting the reduction of a block on the GPU",
           extremum_tile_totals_kernel<decltype(element)>, {block.tiles(), tile_threads, stream},
           block, maximum, extrema, first_nan);
  });
}

void integer_prefixes(int128* sums, std::uint64_t tiles, cudaStream_t stream) {
  exclusive_prefixes<Addition>(sums, tiles, stream);
}

void extremum_prefixes(Extremum* extrema, std::uint64_t tiles, cudaStream_t stream) {
  exclusive_prefixes<ExtremumChoice>(extrema, tiles, stream);
}

}  // namespace warpfold::cuda::kernels
