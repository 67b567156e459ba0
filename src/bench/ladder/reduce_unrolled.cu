#include <algorithm>

#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::bench::ladder {
namespace {

namespace warp = cuda::warp;

constexpr int unrolled_threads = 512;
constexpr int unrolled_warps = unrolled_threads / warp::lanes;
template <class T>
constexpr int loads = 64 / sizeof(T);
template <class T>
constexpr std::uint64_t chunk_elements = loads<T>* unrolled_threads;
constexpr unsigned blocks_a_multiprocessor = 2048 / unrolled_threads;

/// Sums the values of the block's threads, in the first one. `warp_sums` has room for one of each
/// warp.
template <class T>
__device__ T block_sum(T sum, T* warp_sums) {
  const auto plus = [](T a, T b) { return a + b; };
  sum = warp::reduce(sum, plus);
  if (warp::lane() == 0) warp_sums[warp::index()] = sum;
  __syncthreads();
  return warp::reduce(warp::lane() < unrolled_warps ? warp_sums[warp::lane()] : T{0}, plus);
}

/// Each thread has many independent loads in flight and adds in registers; all that a block reads
/// takes one step of block work.
template <class T>
__global__ void __launch_bounds__(unrolled_threads)
    unrolled_kernel(const T* input, std::uint64_t elements, T* sum) {
  __shared__ T warp_sums[unrolled_warps];
  const std::uint64_t step = gridDim.x * chunk_elements<T>;
  std::uint64_t first = blockIdx.x * chunk_elements<T> + threadIdx.x;
  T own[loads<T>] = {};
  for (; first + (chunk_elements<T> - unrolled_threads) < elements; first += step) {
#pragma unroll
    for (int k = 0; k < loads<T>; ++k) own[k] += input[first + k * unrolled_threads];
  }
  for (; first < elements; first += unrolled_threads) own[0] += input[first];
#pragma unroll
  for (int k = 1; k < loads<T>; ++k) own[0] += own[k];
  const T total = block_sum(own[0], warp_sums);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}

}  // namespace

template <class T>
void add_unrolled(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream) {
  const unsigned resident =
      static_cast<unsigned>(cuda::multiprocessors()) * blocks_a_multiprocessor;
  const unsigned blocks = std::min(covering_blocks(elements, chunk_elements<T>), resident);
  cuda::launch("starting an unrolled sum", unrolled_kernel<T>, {blocks, unrolled_threads, stream},
               input, elements, sum);
}

template void add_unrolled(const std::uint32_t*, std::uint64_t, std::uint32_t*, cudaStream_t);
template void add_unrolled(const float*, std::uint64_t, float*, cudaStream_t);
template void add_unrolled(const double*, std::uint64_t, double*, cudaStream_t);

}  // namespace warpfold::bench::ladder
