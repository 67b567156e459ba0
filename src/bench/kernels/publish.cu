#include "bench/kernels/publish.hpp"
#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::bench::kernels {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    publish_kernel(std::uint64_t* payload, int words, std::uint64_t value,
                   volatile std::uint32_t* flag, std::uint32_t epoch) {
  for (int i = static_cast<int>(threadIdx.x); i < words; i += threads)
    payload[i] = value + static_cast<std::uint64_t>(i);
  if (flag == nullptr) return;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = epoch;
}

}  // namespace

void publish(std::uint64_t* payload, int words, std::uint64_t value, std::uint32_t* flag,
             std::uint32_t epoch, cudaStream_t stream) {
  publish_kernel<<<1, threads, 0, stream>>>(payload, words, value, flag, epoch);
  cuda::check_launch("starting the handover of a result");
}

}  // namespace warpfold::bench::kernels
