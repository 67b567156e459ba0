#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

WARPFOLD_HD inline std::uint8_t reversed_bytes(std::uint8_t word) { return word; }

WARPFOLD_HD inline std::uint16_t reversed_bytes(std::uint16_t word) {
  return static_cast<std::uint16_t>((word << 8) | (word >> 8));
}

WARPFOLD_HD inline std::uint32_t reversed_bytes(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __byte_perm(word, 0, 0x0123);
#else
  return __builtin_bswap32(word);
#endif
}

WARPFOLD_HD inline std::uint64_t reversed_bytes(std::uint64_t word) {
  return static_cast<std::uint64_t>(reversed_bytes(static_cast<std::uint32_t>(word))) << 32 |
         reversed_bytes(static_cast<std::uint32_t>(word >> 32));
}

/// A word is the unsigned integer as wide as an element of type T.
template <class T>
using Word = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Returns the element whose bytes are those of `element` in reverse.
template <class T>
WARPFOLD_HD T byte_swapped(T element) {
  return std::bit_cast<T>(reversed_bytes(std::bit_cast<Word<T>>(element)));
}

}  // namespace warpfold
