#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/gpu_test.hpp"

namespace warpfold::bench::ladder {

/// Around every warp, block, tile and level of the variants.
inline constexpr std::uint64_t small_sizes[] = {
    0,    1,    2,    31,   32,   33,   255,  256,  257,  511,  512,  513,  1023,
    1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 9215, 9216, 9217, 30011};
inline constexpr std::uint64_t large_sizes[] = {(1u << 20) - 1, 1u << 20, (1u << 20) + 1,
                                                (1u << 27) + 3};

/// More than 32 bits can count.
inline constexpr std::uint64_t huge_size = (std::uint64_t{1} << 32) + 4099;

/// Why a test can't have so much of the device's memory; empty if it can.
inline std::string missing_memory(std::uint64_t bytes) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cuda::check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the GPU's free memory");
  if (bytes <= free_bytes) return {};
  return "needs " + std::to_string(bytes >> 20) + " MiB of GPU memory, " +
         std::to_string(free_bytes >> 20) + " MiB are free";
}

/// An array in device memory that is aligned to its elements only, between two elements that
/// nothing is to write. All bytes are 0xa5 at first.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(std::uint64_t elements)
      : elements_(elements), buffer_((elements + 2) * sizeof(T)) {
    poison();
  }
  explicit GuardedArray(const std::vector<T>& elements) : GuardedArray(elements.size()) {
    cuda::copy_to_device(data(), elements.data(), elements.size() * sizeof(T), stream_.get());
    stream_.synchronize();
  }

  T* data() const { return reinterpret_cast<T*>(buffer_.data()) + 1; }

  void poison() {
    cuda::fill_bytes(buffer_.data(), 0xa5, buffer_.size(), stream_.get());
    stream_.synchronize();
  }

  /// The elements, or nothing if one before or after them was written.
  std::optional<std::vector<T>> read() const {
    std::vector<T> all(elements_ + 2);
    cuda::copy_to_host(all.data(), buffer_.data(), buffer_.size(), stream_.get());
    stream_.synchronize();
    if (!is_poison(all.front()) || !is_poison(all.back())) return std::nullopt;
    return std::vector<T>(all.begin() + 1, all.end() - 1);
  }

 private:
  static bool is_poison(const T& value) {
    T expected;
    std::memset(&expected, 0xa5, sizeof(T));
    return std::memcmp(&value, &expected, sizeof(T)) == 0;
  }

  std::uint64_t elements_;
  cuda::DeviceBuffer buffer_;
  cuda::Stream stream_;
};

}  // namespace warpfold::bench::ladder
