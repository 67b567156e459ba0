#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

/// Owns a value in page-locked host memory that kernels write to.
template <class T>
class MappedValue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  MappedValue() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating page-locked memory");
    value_ = new (memory) T{};
    void* address = nullptr;
    const cudaError_t status = cudaHostGetDevicePointer(&address, memory, 0);
    if (status != cudaSuccess) cudaFreeHost(memory);
    check(status, "mapping page-locked memory");
    on_device_ = static_cast<T*>(address);
  }
  ~MappedValue() { cudaFreeHost(value_); }
  MappedValue(const MappedValue&) = delete;
  MappedValue& operator=(const MappedValue&) = delete;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

  /// As the device addresses it.
  T* on_device() const { return on_device_; }

 private:
  T* value_ = nullptr;
  T* on_device_ = nullptr;
};

}  // namespace warpfold::cuda
