#include "bench/ladder/grid.hpp"
#include "bench/ladder/reduce_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda::ladder {
namespace {

/// The first architecture with an instruction for it, as the compiler counts.
constexpr int redux_architecture = 80;

/// In every lane.
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

void add_by_reduce_add_sync(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* sum,
                            cudaStream_t stream) {
  reduce_add_sync_kernel<<<covering_blocks(elements, level_threads), level_threads, 0, stream>>>(
      input, elements, sum);
  check_launch("starting a sum by __reduce_add_sync");
}

bool has_reduce_add_sync() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, reduce_add_sync_kernel), "asking for a kernel's code");
  return attributes.ptxVersion >= redux_architecture;
}

}  // namespace warpfold::cuda::ladder
