#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The few consecutive elements that one lane reads or writes at once.
namespace warpfold::cuda::kernels {

template <class T, int Count>
struct alignas(sizeof(T) * Count) LaneElements {
  T element[Count];
};

template <std::size_t Bytes>
struct PackedBytes;
template <>
struct PackedBytes<2> {
  using type = unsigned short;
};
template <>
struct PackedBytes<4> {
  using type = unsigned;
};
template <>
struct PackedBytes<8> {
  using type = uint2;
};
template <>
struct PackedBytes<16> {
  using type = uint4;
};
struct alignas(16) TwoVectors {
  uint4 half[2];
};
template <>
struct PackedBytes<32> {
  using type = TwoVectors;
};

/// The words of as few registers as the elements fit.
template <class T, int Count>
using Packed = typename PackedBytes<sizeof(T) * Count>::type;

template <class T, int Count>
__device__ Packed<T, Count> packed(const LaneElements<T, Count>& elements) {
  return std::bit_cast<Packed<T, Count>>(elements);
}

/// From an address aligned to the elements together.
template <class T, int Count>
__device__ Packed<T, Count> load_vector(const T* elements) {
  return __ldcg(reinterpret_cast<const Packed<T, Count>*>(elements));
}

/// To an address aligned to the elements together.
template <class T, int Count>
__device__ void store_vector(T* elements, const LaneElements<T, Count>& values) {
  __stcg(reinterpret_cast<Packed<T, Count>*>(elements), packed(values));
}

template <class T>
inline constexpr int elements_of_word = static_cast<int>(sizeof(std::uint32_t) / sizeof(T));

/// Number of elements on either side that load_shifted() may read.
template <class T>
inline constexpr int shift_margin = elements_of_word<T> > 1 ? elements_of_word<T> : 0;

/// From an address aligned to one element: by whole words, which the elements are taken from.
template <class T, int Count>
__device__ Packed<T, Count> load_shifted(const T* elements) {
  if constexpr (elements_of_word < T >> 1 && Count >= elements_of_word<T>) {
    constexpr int count = Count / elements_of_word<T>;
    const auto address = reinterpret_cast<std::uintptr_t>(elements);
    const auto* words = reinterpret_cast<const std::uint32_t*>(address / 4 * 4);
    const auto shift = static_cast<std::uint32_t>(address % 4 * 8);
    LaneElements<std::uint32_t, count> shifted;
    std::uint32_t low = words[0];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const std::uint32_t high = words[i + 1];
      shifted.element[i] = __funnelshift_r(low, high, shift);
      low = high;
    }
    return packed(shifted);
  } else {
    LaneElements<T, Count> loaded;
#pragma unroll
    for (int k = 0; k < Count; ++k) loaded.element[k] = elements[k];
    return packed(loaded);
  }
}

/// Loads the elements for which exists(k); `missing` for the others. Narrow elements are packed as
/// they arrive, one after the other, so that they take few registers.
template <class T, int Count, class Exists>
__device__ Packed<T, Count> load_existing(const T* elements, T missing, Exists exists) {
  if constexpr (elements_of_word < T >> 1 && Count >= elements_of_word<T>) {
    using Bits = std::make_unsigned_t<T>;
    constexpr int count = Count / elements_of_word<T>;
    LaneElements<std::uint32_t, count> words{};
#pragma unroll 1
    for (int k = 0; k < Count; ++k) {
      const auto bits = static_cast<Bits>(exists(k) ? elements[k] : missing);
      const std::uint32_t placed = std::uint32_t{bits}
                                   << (k % elements_of_word<T> * static_cast<int>(8 * sizeof(T)));
#pragma unroll
      for (int word = 0; word < count; ++word)
        words.element[word] |= word == k / elements_of_word<T> ? placed : 0u;
    }
    return packed(words);
  } else {
    LaneElements<T, Count> loaded;
#pragma unroll
    for (int k = 0; k < Count; ++k) loaded.element[k] = exists(k) ? elements[k] : missing;
    return packed(loaded);
  }
}

template <class T>
__device__ std::uint32_t swapped_word(std::uint32_t word) {
  return __byte_perm(word, 0, sizeof(T) == 2 ? 0x2301 : 0x0123);
}

/// Returns 16 bytes of elements with the bytes of each reversed.
template <class T>
__device__ uint4 swapped_elements(uint4 words) {
  if constexpr (sizeof(T) == 1) return words;
  const uint4 swapped{swapped_word<T>(words.x), swapped_word<T>(words.y), swapped_word<T>(words.z),
                      swapped_word<T>(words.w)};
  if constexpr (sizeof(T) == 8) return {swapped.y, swapped.x, swapped.w, swapped.z};
  return swapped;
}

}  // namespace warpfold::cuda::kernels
