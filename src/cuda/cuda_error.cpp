#include "cuda/cuda_error.hpp"

#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

std::string suggestion(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "give a smaller --device-memory or --slab";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return "build with this GPU's architecture in CMAKE_CUDA_ARCHITECTURES";
    case cudaErrorInsufficientDriver:
      return "update the driver or use --backend cpu";
    case cudaErrorDevicesUnavailable:
      return "leave the GPU to one process at a time (its compute mode) or use --backend cpu";
    default:
      return "see the system's log, or use --backend cpu";
  }
}

}  // namespace

void check(cudaError_t status, const char* action) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(std::string(action) + " failed",
              std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status),
              suggestion(status));
}

void check_launch(const char* action) { check(cudaGetLastError(), action); }

}  // namespace warpfold::cuda
