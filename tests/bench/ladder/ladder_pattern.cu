#include "bench/ladder/ladder_pattern.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::bench::ladder {
namespace {

constexpr unsigned blocks = 1024;
constexpr unsigned threads = 256;

__global__ void fill_kernel(std::uint32_t* array, const std::uint64_t elements) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  for (std::uint64_t i = first; i < elements; i += blocks * threads)
    array[i] = static_cast<std::uint32_t>(Pattern::slope * i + Pattern::start);
}

__global__ void count_kernel(const std::uint32_t* array, const std::uint64_t elements,
                             unsigned long long* mismatches) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  for (std::uint64_t i = first; i < elements; i += blocks * threads)
    if (array[i] != Pattern::sum(i + 1)) atomicAdd(mismatches, 1ull);
}

}  // namespace

void fill_pattern(std::uint32_t* array, std::uint64_t elements, cudaStream_t stream) {
  cuda::launch("filling a test's array", fill_kernel, {blocks, threads, stream}, array, elements);
}

void count_mismatches(const std::uint32_t* array, std::uint64_t elements,
                      unsigned long long* mismatches, cudaStream_t stream) {
  cuda::launch("checking a test's array", count_kernel, {blocks, threads, stream}, array, elements,
               mismatches);
}

}  // namespace warpfold::bench::ladder
