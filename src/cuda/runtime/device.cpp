#include "cuda/runtime/device.hpp"

#include <algorithm>
#include <cstddef>

namespace warpfold::cuda {

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current GPU");
  return device;
}

int device_attribute(cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, current_device()),
        "asking for the GPU's properties");
  return value;
}

int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

std::uint64_t Device::memory_limit() const {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the GPU's free memory");
  const std::uint64_t free = free_bytes;
  if (memory_bytes_) return std::min(*memory_bytes_, free);
  return free / 5 * 4 / static_cast<std::uint64_t>(std::max(sharing_processes_, 1));
}

}  // namespace warpfold::cuda
