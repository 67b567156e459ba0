#pragma once

#include <cstddef>
#include <cstdint>

#include "warpfold/core/partition.hpp"

namespace warpfold::cuda {

/// Cuts device memory into arrays, one after the other. Without memory it only counts bytes.
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
