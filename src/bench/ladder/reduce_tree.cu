#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/runtime/launch.cuh"

// Blocks of threads sum as many elements in shared memory, each a tree with the block's sum at its
// root. The trees differ in which threads work, and where. What a thread reads in a step no other
// writes in it; a barrier ends each step.

namespace warpfold::bench::ladder {
namespace {

/// Returns the thread's element, zero past the end.
template <class T>
__device__ T own_element(const T* input, std::uint64_t elements) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  return i < elements ? input[i] : T{0};
}

/// Every warp has working and idle threads until few threads work at all.
template <class T>
__global__ void __launch_bounds__(tree_threads)
    interleaved_divergent_kernel(const T* input, std::uint64_t elements, T* sums) {
  __shared__ T part[tree_threads];
  const unsigned t = threadIdx.x;
  part[t] = own_element(input, elements);
  __syncthreads();
  for (unsigned stride = 1; stride < tree_threads; stride *= 2) {
    if (t % (2 * stride) == 0) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

/// The first threads work, so that whole warps idle, but the lanes of a warp reach for the same
/// banks.
template <class T>
__global__ void __launch_bounds__(tree_threads)
    interleaved_strided_kernel(const T* input, std::uint64_t elements, T* sums) {
  __shared__ T part[tree_threads];
  const unsigned t = threadIdx.x;
  part[t] = own_element(input, elements);
  __syncthreads();
  for (unsigned stride = 1; stride < tree_threads; stride *= 2) {
    const unsigned at = 2 * stride * t;
    if (at < tree_threads) part[at] += part[at + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

/// Neighbouring threads work on neighbouring words.
template <class T, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    sequential_kernel(const T* input, std::uint64_t elements, T* sums) {
  __shared__ T part[Threads];
  const unsigned t = threadIdx.x;
  part[t] = own_element(input, elements);
  __syncthreads();
  for (unsigned stride = Threads / 2; stride > 0; stride /= 2) {
    if (t < stride) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

}  // namespace

template <class T>
void sum_interleaved_divergent(const T* input, std::uint64_t elements, T* sums,
                               cudaStream_t stream) {
  cuda::launch("starting a sum with interleaved addressing", interleaved_divergent_kernel<T>,
               {covering_blocks(elements, tree_threads), tree_threads, stream}, input, elements,
               sums);
}

template <class T>
void sum_interleaved_strided(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream) {
  cuda::launch("starting a sum with strided indices", interleaved_strided_kernel<T>,
               {covering_blocks(elements, tree_threads), tree_threads, stream}, input, elements,
               sums);
}

template <class T>
void sum_sequential(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream) {
  cuda::launch("starting a sum with sequential addressing", sequential_kernel<T, tree_threads>,
               {covering_blocks(elements, tree_threads), tree_threads, stream}, input, elements,
               sums);
}

template <class T>
void sum_tree_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream) {
  cuda::launch("starting a level of a tree of sums", sequential_kernel<T, level_threads>,
               {covering_blocks(elements, level_threads), level_threads, stream}, input, elements,
               sums);
}

#define WARPFOLD_INSTANTIATE(T)                                                              \
  template void sum_interleaved_divergent(const T*, std::uint64_t, T*, cudaStream_t stream); \
  template void sum_interleaved_strided(const T*, std::uint64_t, T*, cudaStream_t stream);   \
  template void sum_sequential(const T*, std::uint64_t, T*, cudaStream_t stream);            \
  template void sum_tree_level(const T*, std::uint64_t, T*, cudaStream_t stream)

WARPFOLD_INSTANTIATE(std::uint32_t);
WARPFOLD_INSTANTIATE(float);
WARPFOLD_INSTANTIATE(double);

#undef WARPFOLD_INSTANTIATE

}  // namespace warpfold::bench::ladder
