#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/values/byte_order.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// Type in which the kernels take elements stored as `Stored`: 16-bit floats are widened.
template <class Stored>
using Decoded =
    std::conditional_t<is_floating_element<Stored> && sizeof(Stored) == 2, float, Stored>;

/// Turns blocks of elements as they lie in a file into blocks for the kernels, in the first-level
/// cache; in place where nothing is to be done.
template <class Stored>
class BlockDecoder {
 public:
  BlockDecoder(const Kernels& kernels, ByteOrder order)
      : kernels_(kernels), swaps_(order != native_byte_order && sizeof(Stored) > 1) {}

  /// Returns the `n` <= block_elements elements at `raw`, aligned to their size; valid until the
  /// next call.
  const Decoded<Stored>* decode(const std::byte* raw, std::size_t n) {
    const Word<Stored>* words = native_words(raw, n);
    if constexpr (std::is_same_v<Stored, Float16>) {
      kernels_.widen_f16(words, n, widened_);
      return widened_;
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      kernels_.widen_bf16(words, n, widened_);
      return widened_;
    } else {
      return reinterpret_cast<const Stored*>(words);
    }
  }

  /// Returns elements as decode() does, not widened.
  const Stored* native(const std::byte* raw, std::size_t n) {
    return reinterpret_cast<const Stored*>(native_words(raw, n));
  }

 private:
  const Word<Stored>* native_words(const std::byte* raw, std::size_t n) {
    const auto* words = reinterpret_cast<const Word<Stored>*>(raw);
    if (!swaps_) return words;
    swap(words, n, words_);
    return words_;
  }

  void swap(const std::uint8_t*, std::size_t, std::uint8_t*) const {}
  void swap(const std::uint16_t* from, std::size_t n, std::uint16_t* to) const {
    kernels_.swap16(from, n, to);
  }
  void swap(const std::uint32_t* from, std::size_t n, std::uint32_t* to) const {
    kernels_.swap32(from, n, to);
  }
  void swap(const std::uint64_t* from, std::size_t n, std::uint64_t* to) const {
    kernels_.swap64(from, n, to);
  }

  static constexpr bool widens = !std::is_same_v<Stored, Decoded<Stored>>;

  const Kernels& kernels_;
  bool swaps_;
  alignas(64) Word<Stored> words_[block_elements];
  alignas(64) Decoded<Stored> widened_[widens ? block_elements : 1];
};

}  // namespace warpfold::cpu
