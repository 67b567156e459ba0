#include "bench/ladder/grid.hpp"
#include "bench/ladder/reduce_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda::ladder {
namespace {

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

}  // namespace

template <class T>
void sum_shuffle_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream) {
  if (elements == 0) return check(cudaMemsetAsync(sums, 0, sizeof(T), stream), "clearing a sum");
  shuffle_level_kernel<<<covering_blocks(elements, level_threads), level_threads, 0, stream>>>(
      input, elements, sums);
  check_launch("starting a level of shuffled sums");
}

template void sum_shuffle_level(const std::uint32_t*, std::uint64_t, std::uint32_t*, cudaStream_t);
template void sum_shuffle_level(const float*, std::uint64_t, float*, cudaStream_t);
template void sum_shuffle_level(const double*, std::uint64_t, double*, cudaStream_t);

}  // namespace warpfold::cuda::ladder
