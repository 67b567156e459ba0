#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

/// Counts the devices this process sees; 0 where the runtime has none or fails.
int device_count();

cudaDeviceProp properties_of(int device);

int current_device();

/// Returns an attribute of the current device.
int device_attribute(cudaDeviceAttr attribute);

/// Counts the current device's multiprocessors.
int multiprocessors();

/// Returns whether FP64 arithmetic of the current device keeps up with its memory.
bool has_many_fp64_units();

/// Has a kernel loaded. A first launch does so too, but then waits for all kernels that are
/// running.
template <class Kernel>
void load_kernel(Kernel* kernel) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

/// The device an engine works on and what it may allocate there.
class Device {
 public:
  Device(int ordinal, std::optional<std::uint64_t> memory_bytes, int sharing_processes)
      : ordinal_(ordinal), memory_bytes_(memory_bytes), sharing_processes_(sharing_processes) {}

  /// Makes the device current for the calling thread: to be called first by every entry point, as
  /// any thread may call.
  void activate() const { check(cudaSetDevice(ordinal_), "selecting the GPU"); }

  /// Returns the most bytes one engine may allocate now.
  std::uint64_t memory_limit() const;

 private:
  int ordinal_;
  std::optional<std::uint64_t> memory_bytes_;
  int sharing_processes_;
};

}  // namespace warpfold::cuda
