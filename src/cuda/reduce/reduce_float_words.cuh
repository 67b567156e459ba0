#pragma once

#include <bit>
#include <cstdint>

#include "cuda/primitives/placed_float.hpp"
#include "cuda/reduce/reduce_elements.cuh"

namespace warpfold::cuda::kernels {

/// A float by 32-bit words without FP64: its sign, the exponent's field and the upper part of its
/// significand in the upper word, as float and double have them. One of 16 bits becomes a float of
/// the same field.
template <class T>
struct FloatWords {
  static constexpr int fraction_bits = sizeof(T) == 8 ? 20 : 23;
  static constexpr int non_finite_field = (1 << PlacedFloat<T>::exponent_bits) - 1;
  static constexpr int fields = non_finite_field + 1;
  /// A significand, with all bits of both words, is a multiple of 2^(field + lowest).
  static constexpr int lowest = (sizeof(T) == 8 ? -1023 - 52 : -(fields / 2 - 1) - 23);
  /// Words of a significand.
  static constexpr int words = sizeof(T) == 8 ? 2 : 1;

  /// Elements of this field and below are less than 2^exponent_above().
  __device__ static constexpr int exponent_above(int field) {
    return field + lowest + fraction_bits + 32 * (words - 1) + 1;
  }

  std::uint32_t high;
  std::uint32_t low;

  __device__ static FloatWords of(T element) {
    const auto bits = std::bit_cast<Word<T>>(element);
    if constexpr (sizeof(T) == 8) {
      return {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits)};
    } else if constexpr (sizeof(T) == 4) {
      return {bits, 0};
    } else {
      constexpr int skipped = 8 - PlacedFloat<T>::exponent_bits;
      const auto aligned = static_cast<std::int32_t>(std::uint32_t{bits} << 16);
      return {
          static_cast<std::uint32_t>(aligned >> skipped) & (0x80000000u | 0x7fffffffu >> skipped),
          0};
    }
  }

  __device__ std::uint32_t magnitude() const { return high & 0x7fffffffu; }
  __device__ int field() const { return static_cast<int>(magnitude() >> fraction_bits); }
  __device__ bool is_finite() const {
    return magnitude() < std::uint32_t{non_finite_field} << fraction_bits;
  }
  __device__ std::uint32_t nonzero() const { return magnitude() | low; }
};

/// visit(words, i) for each element of a tile, in registers.
template <class T, class Visit>
__device__ void for_words(const ThreadTile<T>& tile, Visit visit) {
  const auto elements = tile.elements();
#pragma unroll
  for (unsigned i = 0; i < ThreadTile<T>::size; ++i) visit(FloatWords<T>::of(elements[i]), i);
}

/// Returns the greatest field below `end` of all lanes' elements.
template <class T>
__device__ int greatest_field(const ThreadTile<T>& tile, int end) {
  std::uint32_t greatest = 0;
  tile.visit([&](T element, unsigned) {
    const auto field = static_cast<std::uint32_t>(FloatWords<T>::of(element).field());
    if (field < static_cast<std::uint32_t>(end) && field > greatest) greatest = field;
  });
  return static_cast<int>(warp::maximum(greatest));
}

}  // namespace warpfold::cuda::kernels
