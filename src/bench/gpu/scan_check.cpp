#include "bench/gpu/scan_check.hpp"

#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/download.hpp"

namespace warpfold::bench {
namespace {

/// What `count`, given the address of a zero in device memory, makes of it.
template <class Count>
std::uint64_t counted(cudaStream_t stream, Count&& count) {
  const cuda::DeviceBuffer memory(sizeof(std::uint64_t));
  cuda::fill_bytes(memory.data(), 0, memory.size(), stream);
  count(reinterpret_cast<std::uint64_t*>(memory.data()));
  return cuda::downloaded_value<std::uint64_t>(memory.data(), stream);
}

}  // namespace

std::uint64_t scan_mismatches(const kernels::ClaimedScan& scan, cudaStream_t stream) {
  return counted(stream, [&](std::uint64_t* mismatches) {
    kernels::count_scan_mismatches(scan, mismatches, stream);
  });
}

std::uint64_t greatest_distance(const void* a, const void* b, std::uint64_t elements,
                                ElementType type, cudaStream_t stream) {
  return counted(stream, [&](std::uint64_t* distance) {
    kernels::greatest_distance(a, b, elements, type, distance, stream);
  });
}

}  // namespace warpfold::bench
