#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// Looks at a mask of bytes a block of elements at a time, and packs those that count: the ones
/// whose byte is not 0.
class ByteMask {
 public:
  explicit ByteMask(const Kernels& kernels) : kernels_(kernels) {}

  /// Looks at the bytes of `n` <= block_elements elements. Returns how many of these count.
  std::size_t look_at(const std::uint8_t* mask, std::size_t n) {
    constexpr KeyFilter<std::uint32_t> not_zero{.minimum = 1, .span = 254};
    return kernels_.u8.decoding.select(mask, n, not_zero, counts_);
  }

  /// Returns the bits of the elements last looked at.
  const std::uint64_t* counts() const { return counts_; }

  /// Copies those of the `n` elements last looked at that count, one behind another.
  template <class T>
  void pack(const T* elements, std::size_t n, T* packed) const {
    kernels_of<T>(kernels_).decoding.pack(elements, n, counts_, packed);
  }

 private:
  const Kernels& kernels_;
  std::uint64_t counts_[words_of(block_elements)];
};

}  // namespace warpfold::cpu
