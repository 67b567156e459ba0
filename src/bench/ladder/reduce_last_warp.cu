#include <cooperative_groups.h>

#include "bench/ladder/grid.hpp"
#include "bench/ladder/reduce_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/cuda_error.hpp"

// A block sums as many elements as it has threads by a tree in shared memory until a warp is left,
// which needs no barrier of the block, and adds its sum to that of all. The kernels differ in how
// the last warp sums.

namespace warpfold::cuda::ladder {
namespace {

/// As many as keep the atomics of blocks from being what takes the time.
constexpr std::uint64_t last_warp_threads = 512;

/// Lanes wait for one another between reading and writing: a warp does not run in step by itself.
struct SyncWarp {
  template <class T>
  __device__ static T sum(T* part) {
    warp::reduce_shared(part, [](T a, T b) { return a + b; });
    return part[0];
  }
};

struct Shuffle {
  template <class T>
  __device__ static T sum(const T* part) {
    T sum = part[warp::lane()];
    for (int delta = warp::lanes / 2; delta > 0; delta /= 2)
      sum += __shfl_down_sync(warp::all_lanes, sum, static_cast<unsigned>(delta));
    return sum;
  }
};

struct GroupTile {
  template <class T>
  __device__ static T sum(const T* part) {
    namespace groups = cooperative_groups;
    const auto tile = groups::tiled_partition<warp::lanes>(groups::this_thread_block());
    T sum = part[tile.thread_rank()];
    for (unsigned delta = tile.size() / 2; delta > 0; delta /= 2) sum += tile.shfl_down(sum, delta);
    return sum;
  }
};

/// `LastWarp::sum(part)` is the sum of 32 elements in lane 0 of the warp that calls.
template <class LastWarp, class T>
__global__ void __launch_bounds__(last_warp_threads)
    last_warp_kernel(const T* input, std::uint64_t elements, T* sum) {
  __shared__ T part[last_warp_threads];
  const unsigned t = threadIdx.x;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * last_warp_threads + t;
  part[t] = i < elements ? input[i] : T{0};
  __syncthreads();
  for (unsigned stride = last_warp_threads / 2; stride >= warp::lanes; stride /= 2) {
    if (t < stride) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t >= warp::lanes) return;
  const T block_sum = LastWarp::sum(part);
  if (t == 0) atomicAdd(sum, block_sum);
}

template <class LastWarp, class T>
void launch(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream) {
  last_warp_kernel<LastWarp>
      <<<covering_blocks(elements, last_warp_threads), last_warp_threads, 0, stream>>>(
          input, elements, sum);
  check_launch("starting a sum with atomics");
}

}  // namespace

template <class T>
void add_last_warp_syncwarp(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream) {
  launch<SyncWarp>(input, elements, sum, stream);
}

template <class T>
void add_last_warp_shuffle(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream) {
  launch<Shuffle>(input, elements, sum, stream);
}

template <class T>
void add_last_warp_tile(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream) {
  launch<GroupTile>(input, elements, sum, stream);
}

#define WARPFOLD_INSTANTIATE(T)                                                           \
  template void add_last_warp_syncwarp(const T*, std::uint64_t, T*, cudaStream_t stream); \
  template void add_last_warp_shuffle(const T*, std::uint64_t, T*, cudaStream_t stream);  \
  template void add_last_warp_tile(const T*, std::uint64_t, T*, cudaStream_t stream)

WARPFOLD_INSTANTIATE(std::uint32_t);
WARPFOLD_INSTANTIATE(float);
WARPFOLD_INSTANTIATE(double);

#undef WARPFOLD_INSTANTIATE

}  // namespace warpfold::cuda::ladder
