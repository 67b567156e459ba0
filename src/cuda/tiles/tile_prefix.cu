#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/tiles/tile_prefix.hpp"

namespace warpfold::cuda::kernels {
namespace {

constexpr int prefix_threads = 1024;
constexpr int prefix_warps = prefix_threads / warp::lanes;
static_assert(prefix_warps == warp::lanes);

template <class Integer>
struct Addition {
  __device__ static Integer identity() { return 0; }
  __device__ Integer operator()(Integer a, Integer b) const { return a + b; }
};

struct ExtremumChoice : BetterExtremum {
  __device__ static Extremum identity() { return Extremum::none(); }
};

/// Thread block i scans column i, a chunk of as many values as it has threads at a time.
template <class Value, class Operator>
__global__ void __launch_bounds__(prefix_threads)
    exclusive_prefix_kernel(Value* values, const std::uint64_t count, Value* totals) {
  __shared__ Value warp_total[prefix_warps];
  const Operator operation{};
  Value* column = values + blockIdx.x * count;
  Value carry = Operator::identity();
  for (std::uint64_t first = 0; first < count; first += prefix_threads) {
    const std::uint64_t i = first + threadIdx.x;
    const Value own = i < count ? column[i] : Operator::identity();
    const Value inclusive = warp::inclusive_scan(own, operation);
    if (warp::lane() == warp::lanes - 1) warp_total[warp::index()] = inclusive;
    __syncthreads();
    const Value warps = warp::inclusive_scan(warp_total[warp::lane()], operation);
    const Value chunk = warp::shuffle(warps, prefix_warps - 1);
    const Value warps_below = warp::shuffle(warps, warp::index() == 0 ? 0 : warp::index() - 1);
    const Value lanes_below = warp::shuffle_up(inclusive, 1);
    Value prefix = carry;
    if (warp::index() != 0) prefix = operation(prefix, warps_below);
    if (warp::lane() != 0) prefix = operation(prefix, lanes_below);
    if (i < count) column[i] = prefix;
    carry = operation(carry, chunk);
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = carry;
}

}  // namespace

void limb_prefixes(std::int64_t* limbs, std::uint64_t groups, std::int64_t* totals,
                   cudaStream_t stream) {
  exclusive_prefix_kernel<std::int64_t, Addition<std::int64_t>>
      <<<ExactSum::limbs, prefix_threads, 0, stream>>>(limbs, groups, totals);
  check_launch("starting the prefixes of tiles on the GPU");
}

void integer_prefixes(int128* sums, std::uint64_t tiles, int128* total, cudaStream_t stream) {
  exclusive_prefix_kernel<int128, Addition<int128>>
      <<<1, prefix_threads, 0, stream>>>(sums, tiles, total);
  check_launch("starting the prefixes of tiles on the GPU");
}

void extremum_prefixes(Extremum* extrema, std::uint64_t tiles, Extremum* total,
                       cudaStream_t stream) {
  exclusive_prefix_kernel<Extremum, ExtremumChoice>
      <<<1, prefix_threads, 0, stream>>>(extrema, tiles, total);
  check_launch("starting the prefixes of tiles on the GPU");
}

}  // namespace warpfold::cuda::kernels
