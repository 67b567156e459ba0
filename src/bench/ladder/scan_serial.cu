#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::bench::ladder {
namespace {

/// This block's part of the array.
struct Part {
  std::uint64_t first;
  unsigned count;

  __device__ explicit Part(std::uint64_t elements) : first(blockIdx.x * part_elements) {
    const std::uint64_t rest = elements - first;
    count = static_cast<unsigned>(rest < part_elements ? rest : part_elements);
  }
};

/// One thread does all the work of its block: each load is a memory transaction of its own.
__global__ void __launch_bounds__(part_elements) scan_parts_serial_kernel(const PartScan scan) {
  if (threadIdx.x != 0) return;
  const Part part(scan.elements);
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < part.count; ++i) {
    sum += scan.input[part.first + i];
    scan.output[part.first + i] = sum;
  }
  scan.part_sums[blockIdx.x] = sum;
}

/// All threads load and store, neighbours together; one adds.
__global__ void __launch_bounds__(part_elements)
    scan_parts_serial_shared_kernel(const PartScan scan) {
  __shared__ std::uint32_t values[part_elements];
  const Part part(scan.elements);
  const unsigned t = threadIdx.x;
  if (t < part.count) values[t] = scan.input[part.first + t];
  __syncthreads();
  if (t == 0) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < part.count; ++i) values[i] = sum += values[i];
    scan.part_sums[blockIdx.x] = sum;
  }
  __syncthreads();
  if (t < part.count) scan.output[part.first + t] = values[t];
}

__global__ void scan_by_one_thread_kernel(std::uint32_t* sums, const std::uint64_t count) {
  std::uint32_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sums[i] = sum += sums[i];
}

__global__ void __launch_bounds__(part_elements)
    add_part_bases_kernel(std::uint32_t* output, const std::uint64_t elements,
                          const std::uint32_t* scanned_part_sums) {
  const unsigned part = blockIdx.x + 1;
  const std::uint64_t i = part * part_elements + threadIdx.x;
  if (i < elements) output[i] += scanned_part_sums[part - 1];
}

}  // namespace

void scan_parts_serial(const PartScan& scan, cudaStream_t stream) {
  cuda::launch("starting a serial scan of parts", scan_parts_serial_kernel,
               {covering_blocks(scan.elements, part_elements), part_elements, stream}, scan);
}

void scan_parts_serial_shared(const PartScan& scan, cudaStream_t stream) {
  cuda::launch("starting a serial scan of parts in shared memory", scan_parts_serial_shared_kernel,
               {covering_blocks(scan.elements, part_elements), part_elements, stream}, scan);
}

void scan_by_one_thread(std::uint32_t* sums, std::uint64_t count, cudaStream_t stream) {
  cuda::launch("starting a scan by one thread", scan_by_one_thread_kernel, {1, 1, stream}, sums,
               count);
}

void add_part_bases(std::uint32_t* output, std::uint64_t elements,
                    const std::uint32_t* scanned_part_sums, cudaStream_t stream) {
  const unsigned parts = covering_blocks(elements, part_elements);
  if (parts == 1) return;
  cuda::launch("starting the addition of parts' sums", add_part_bases_kernel,
               {parts - 1, part_elements, stream}, output, elements, scanned_part_sums);
}

}  // namespace warpfold::bench::ladder
