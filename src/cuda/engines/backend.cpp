#include "cuda/engines/backend.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdio>
#include <utility>

#include "cuda/engines/axis_reduce_engine.hpp"
#include "cuda/engines/axis_scan_engine.hpp"
#include "cuda/engines/compact_engine.hpp"
#include "cuda/engines/histogram_engine.hpp"
#include "cuda/engines/reduce_engine.hpp"
#include "cuda/engines/scan_engine.hpp"
#include "cuda/reduce/reduce.hpp"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/device.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the GPU's properties");
  return properties;
}

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

/// How many devices there are, and the runtime's answer.
std::pair<int, cudaError_t> device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return {count, status};
  cudaGetLastError();
  return {0, status};
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const DeviceOptions& options)
      : device_(options.device, options.memory_bytes, options.sharing_processes) {
    device_.activate();
    description_ = properties_of(options.device).name;
    kernels::resident_reduce_blocks(ElementType::f64);  // throws where no device code fits the GPU
  }

  std::string name() const override { return "cuda"; }
  std::string device() const override { return description_; }

  std::unique_ptr<ReduceEngine> make_reduce_engine(const ReducePlan& plan) override {
    device_.activate();
    return cuda::make_reduce_engine(device_, plan);
  }

  std::unique_ptr<ScanEngine> make_scan_engine(const ScanPlan& plan) override {
    device_.activate();
    return cuda::make_scan_engine(device_, plan);
  }

  std::unique_ptr<HistogramEngine> make_histogram_engine(const HistogramPlan& plan) override {
    device_.activate();
    return cuda::make_histogram_engine(device_, plan);
  }

  std::unique_ptr<CompactEngine> make_compact_engine(const CompactPlan& plan) override {
    device_.activate();
    return cuda::make_compact_engine(device_, plan);
  }

  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const AxisReducePlan& plan) override {
    device_.activate();
    return cuda::make_axis_reduce_engine(device_, plan);
  }

  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const AxisScanPlan& plan) override {
    device_.activate();
    return cuda::make_axis_scan_engine(device_, plan);
  }

 private:
  Device device_;
  std::string description_;
};

}  // namespace

bool built() { return true; }

std::string build_description() {
  return "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
         std::to_string(CUDART_VERSION % 1000 / 10) + ", " WARPFOLD_CUDA_ARCHITECTURES;
}

std::vector<DeviceInfo> visible_devices() {
  std::vector<DeviceInfo> devices;
  const int count = device_count().first;
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
  const auto [count, status] = device_count();
  if (status == cudaSuccess || status == cudaErrorNoDevice)
    return count == 0 ? "no CUDA device is visible" : "";
  return std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
}

std::unique_ptr<Backend> make_backend(const DeviceOptions& options) {
  const int count = device_count().first;
  if (count == 0)
    throw Error("the cuda backend is not available", unavailable_reason(), "use --backend cpu");
  if (options.device < 0 || options.device >= count)
    throw Error("there is no GPU number " + std::to_string(options.device),
                std::to_string(count) + " visible, numbered from 0", "check CUDA_VISIBLE_DEVICES");
  return std::make_unique<CudaBackend>(options);
}

}  // namespace warpfold::cuda
