#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "cuda/cuda_error.hpp"

namespace warpfold::cuda {

/// Owns bytes of page-locked host memory.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::uint64_t bytes) : bytes_(bytes) {
    if (bytes != 0)
      check(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), "allocating page-locked memory");
  }
  ~PinnedBuffer() { cudaFreeHost(data_); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::uint64_t size() const { return bytes_; }
  std::span<std::byte> span() const { return {data(), static_cast<std::size_t>(bytes_)}; }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace warpfold::cuda
