#include "cuda/runtime/cuda_error.hpp"

#include <unistd.h>

#include <array>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

std::string suggestion(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "Give a smaller `device_memory_bytes` or `slab_bytes`.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return "Build with this GPU's architecture in CMAKE_CUDA_ARCHITECTURES.";
    case cudaErrorInsufficientDriver:
      return "Update the driver or use `backend` cpu.";
    case cudaErrorDevicesUnavailable:
      return "End the other process (the GPU's compute mode allows one), or use `backend` cpu.";
    default:
      return "See the system's log, or use `backend` cpu.";
  }
}

/// Returns whether it leaves this process without its GPU, whatever it calls next.
bool loses_gpu(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

std::string text_of(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

/// Returns the current GPU's place on the bus, which needs nothing that was lost; "?" where it
/// does.
std::string current_pci_bus_id() {
  int device = 0;
  std::array<char, 32> text{};
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) == cudaSuccess)
    return text.data();
  cudaGetLastError();
  return "?";
}

std::string host_name() {
  std::array<char, 256> text{};
  return gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "this host";
}

Error lost_gpu(cudaError_t status, const std::string& action) {
  const std::string gpu = current_pci_bus_id();
  return Error("GPU " + gpu + " of " + host_name() + " was lost",
               action + " failed with " + text_of(status),
               "Look for its Xid in 'dmesg' and at 'nvidia-smi -q -i " + gpu +
                   "'. Run without it (CUDA_VISIBLE_DEVICES), or use `backend` cpu.");
}

}  // namespace

void check(cudaError_t status, const char* action) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (loses_gpu(status)) throw lost_gpu(status, action);
  throw Error(std::string(action) + " failed", text_of(status), suggestion(status));
}

}  // namespace warpfold::cuda
