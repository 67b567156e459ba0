#include "cuda/runtime/device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "cuda/runtime/visible_devices.hpp"

namespace warpfold::cuda {
namespace {

std::string hexadecimal(const cudaUUID_t& uuid) {
  std::string text;
  for (const char byte : uuid.bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += digits.data();
  }
  return text;
}

std::string pci_bus_id_of(int device) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
        "asking for the GPU's place on the bus");
  return text.data();
}

/// Returns how many devices there are, and the runtime's answer.
std::pair<int, cudaError_t> answered_device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return {count, status};
  cudaGetLastError();
  return {0, status};
}

}  // namespace

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

int device_count() { return answered_device_count().first; }

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the GPU's properties");
  return properties;
}

int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

bool has_many_fp64_units() {
  // FP32 operations for one of FP64: 2 or 3 on such devices, 16 and more elsewhere.
  constexpr int most = 4;
  return device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= most;
}

std::uint64_t Device::memory_limit() const {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the GPU's free memory");
  const std::uint64_t free = free_bytes;
  if (memory_bytes_) return std::min(*memory_bytes_, free);
  return free / 5 * 4 / static_cast<std::uint64_t>(std::max(sharing_processes_, 1));
}

bool built() { return true; }

std::string build_description() {
  return "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
         std::to_string(CUDART_VERSION % 1000 / 10) + ", " WARPFOLD_CUDA_ARCHITECTURES;
}

std::vector<DeviceInfo> visible_devices() {
  std::vector<DeviceInfo> devices;
  const int count = device_count();
  for (int device = 0; device < count; ++device) {
    const cudaDeviceProp properties = properties_of(device);
    devices.push_back({properties.name, hexadecimal(properties.uuid), properties.totalGlobalMem,
                       pci_bus_id_of(device)});
  }
  return devices;
}

std::string unavailable_reason() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
  if (driver == 0) return "no CUDA driver";
  const auto [count, status] = answered_device_count();
  if (status == cudaSuccess || status == cudaErrorNoDevice)
    return count == 0 ? "no CUDA device is visible" : "";
  return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

}  // namespace warpfold::cuda
