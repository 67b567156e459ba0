#include <cooperative_groups.h>

#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"

// Sums of warps: in levels of 32 elements a sum, at the end of a block's tree, and by the one
// instruction that integers have for it.

namespace warpfold::bench::ladder {
namespace {

namespace warp = cuda::warp;

static_assert(warp_elements == warp::lanes);

/// Each warp sums 32 elements in registers: no shared memory, no barrier. The shuffles name the
/// lanes that take part, which are those with an element; a value that comes from another lane, the
/// own one at the end, is not added.
template <class T>
__global__ void __launch_bounds__(level_threads)
    shuffle_level_kernel(const T* input, std::uint64_t elements, T* sums) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * level_threads + threadIdx.x;
  const unsigned present = __ballot_sync(warp::all_lanes, i < elements);
  if (i >= elements) return;
  T sum = input[i];
  for (int delta = warp::lanes / 2; delta > 0; delta /= 2) {
    const T above = __shfl_down_sync(present, sum, static_cast<unsigned>(delta));
    if (warp::lane() + delta < __popc(present)) sum += above;
  }
  if (warp::lane() == 0) sums[i / warp::lanes] = sum;
}

// A block sums as many elements as it has threads by a tree in shared memory until a warp is left,
// which needs no barrier of the block, and adds its sum to that of all. The kernels differ in how
// the last warp sums.

/// Blocks are as large as keeps their atomics from being what takes the time.
constexpr std::uint64_t last_warp_threads = 512;

/// Lanes wait for one another between reading and writing: a warp does not run in step by itself.
struct SyncWarp {
  template <class T>
  __device__ static T sum(T* part) {
    for (int delta = 1; delta < warp::lanes; delta *= 2) {
      const T above =
          part[warp::lane() + delta < warp::lanes ? warp::lane() + delta : warp::lane()];
      const T sum = part[warp::lane()] + above;
      __syncwarp();
      part[warp::lane()] = sum;
      __syncwarp();
    }
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
  cuda::launch("starting a sum with atomics", last_warp_kernel<LastWarp, T>,
               {covering_blocks(elements, last_warp_threads), last_warp_threads, stream}, input,
               elements, sum);
}

/// The first architecture with an instruction that sums, as the compiler counts.
constexpr int redux_architecture = 80;

/// Sums the warp's values, in every lane.
__device__ std::uint32_t warp_sum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(warp::all_lanes, value);
#else
  __trap();
  return value;
#endif
}

/// Each warp sums 32 elements by one instruction, the first warp the sums of the others.
__global__ void __launch_bounds__(level_threads)
    reduce_add_sync_kernel(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* sum) {
  __shared__ std::uint32_t warp_sums[level_threads / warp::lanes];
  const std::uint64_t i = std::uint64_t{blockIdx.x} * level_threads + threadIdx.x;
  const std::uint32_t own = warp_sum(i < elements ? input[i] : 0);
  if (warp::lane() == 0) warp_sums[warp::index()] = own;
  __syncthreads();
  if (warp::index() != 0) return;
  const std::uint32_t block_sum = warp_sum(warp_sums[warp::lane()]);
  if (warp::lane() == 0) atomicAdd(sum, block_sum);
}

}  // namespace

template <class T>
void sum_shuffle_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream) {
  if (elements == 0)
    return cuda::check(cudaMemsetAsync(sums, 0, sizeof(T), stream), "clearing a sum");
  cuda::launch("starting a level of shuffled sums", shuffle_level_kernel<T>,
               {covering_blocks(elements, level_threads), level_threads, stream}, input, elements,
               sums);
}

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

#define WARPFOLD_INSTANTIATE(T)                                                    \
  template void sum_shuffle_level(const T*, std::uint64_t, T*, cudaStream_t);      \
  template void add_last_warp_syncwarp(const T*, std::uint64_t, T*, cudaStream_t); \
  template void add_last_warp_shuffle(const T*, std::uint64_t, T*, cudaStream_t);  \
  template void add_last_warp_tile(const T*, std::uint64_t, T*, cudaStream_t)

WARPFOLD_INSTANTIATE(std::uint32_t);
WARPFOLD_INSTANTIATE(float);
WARPFOLD_INSTANTIATE(double);

#undef WARPFOLD_INSTANTIATE

void add_by_reduce_add_sync(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* sum,
                            cudaStream_t stream) {
  cuda::launch("starting a sum by __reduce_add_sync", reduce_add_sync_kernel,
               {covering_blocks(elements, level_threads), level_threads, stream}, input, elements,
               sum);
}

bool has_reduce_add_sync() {
  cudaFuncAttributes attributes{};
  cuda::check(cudaFuncGetAttributes(&attributes, reduce_add_sync_kernel),
              "asking for a kernel's code");
  return attributes.ptxVersion >= redux_architecture;
}

}  // namespace warpfold::bench::ladder
