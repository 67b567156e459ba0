#include "bench/gpu/device_facts.hpp"

#include <cuda_runtime_api.h>

#include "bench/cub/cub_peers.hpp"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::bench {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

DeviceFacts current_device_facts() {
  cudaDeviceProp properties{};
  int driver = 0;
  cuda::check(cudaGetDeviceProperties(&properties, cuda::current_device()),
              "asking for the GPU's properties");
  cuda::check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  DeviceFacts facts;
  facts.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = properties.totalGlobalMem;
  facts.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  facts.driver = version_text(driver);
  facts.runtime = version_text(CUDART_VERSION);
  facts.cub = cub_description();
  return facts;
}

}  // namespace warpfold::bench
