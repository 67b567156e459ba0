#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

/// Owns bytes of the current device's memory, aligned to 256 bytes at least.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::uint64_t bytes);

  std::byte* data() const { return data_.get(); }
  std::uint64_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { cudaFree(data); }
  };

  std::unique_ptr<std::byte, Free> data_;
  std::uint64_t bytes_ = 0;
};

/// Owns bytes of page-locked host memory, aligned to a page, in the memory of the thread that made
/// it.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::uint64_t bytes);

  std::byte* data() const { return data_.get(); }
  std::uint64_t size() const { return bytes_; }
  std::span<std::byte> span() const { return {data(), static_cast<std::size_t>(bytes_)}; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };

  std::unique_ptr<std::byte, Free> data_;
  std::uint64_t bytes_ = 0;
};

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

  /// Returns the value's address on the device.
  T* on_device() const { return on_device_; }

 private:
  T* value_ = nullptr;
  T* on_device_ = nullptr;
};

/// Hands out arrays of device memory, one after the other. Without memory it only counts bytes.
class Scratch {
 public:
  explicit Scratch(std::byte* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* take(std::uint64_t count) {
    const std::uint64_t offset = bytes_;
    bytes_ += round_up(count * sizeof(T), alignment);
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + offset);
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::uint64_t alignment = 256;

  std::byte* memory_;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpfold::cuda
