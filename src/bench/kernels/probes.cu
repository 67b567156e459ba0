#include <algorithm>

#include "bench/kernels/kernels.hpp"
#include "core/layout/partition.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::bench::kernels {
namespace {

constexpr int probe_threads = 512;
constexpr int loads = 4;

struct ExclusiveOr {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a ^ b; }
};

__device__ std::uint32_t reduced(uint4 words) { return words.x ^ words.y ^ words.z ^ words.w; }

__global__ void __launch_bounds__(probe_threads)
    read_probe_kernel(const uint4* vectors, std::uint64_t count, std::uint32_t* result) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * probe_threads;
  std::uint64_t i = std::uint64_t{blockIdx.x} * probe_threads + threadIdx.x;
  std::uint32_t mine = 0;
  for (; i + (loads - 1) * stride < count; i += loads * stride) {
    uint4 loaded[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) loaded[k] = __ldcs(vectors + i + k * stride);
#pragma unroll
    for (int k = 0; k < loads; ++k) mine ^= reduced(loaded[k]);
  }
  for (; i < count; i += stride) mine ^= reduced(__ldcs(vectors + i));
  const std::uint32_t combined = cuda::warp::reduce(mine, ExclusiveOr{});
  if (cuda::warp::lane() == 0) atomicXor(result, combined);
}

constexpr int publish_threads = 256;

__global__ void __launch_bounds__(publish_threads)
    publish_kernel(std::uint64_t* payload, int words, std::uint64_t value,
                   volatile std::uint32_t* flag, std::uint32_t epoch) {
  for (int i = static_cast<int>(threadIdx.x); i < words; i += publish_threads)
    payload[i] = value + static_cast<std::uint64_t>(i);
  if (flag == nullptr) return;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = epoch;
}

}  // namespace

int resident_probe_blocks() {
  int blocks = 0;
  cuda::check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, read_probe_kernel, probe_threads, 0),
      "preparing the read probe");
  return blocks * cuda::multiprocessors();
}

void read_probe(const void* array, std::uint64_t bytes, std::uint32_t* result, int blocks,
                cudaStream_t stream) {
  const std::uint64_t vectors = bytes / sizeof(uint4);
  if (vectors == 0) return;
  const auto grid = static_cast<unsigned>(std::min<std::uint64_t>(
      ceil_div(vectors, probe_threads), static_cast<std::uint64_t>(blocks)));
  cuda::launch("starting the read probe", read_probe_kernel, {grid, probe_threads, stream},
               static_cast<const uint4*>(array), vectors, result);
}

void publish(std::uint64_t* payload, int words, std::uint64_t value, std::uint32_t* flag,
             std::uint32_t epoch, cudaStream_t stream) {
  cuda::launch("starting the handover of a result", publish_kernel, {1, publish_threads, stream},
               payload, words, value, flag, epoch);
}

}  // namespace warpfold::bench::kernels
