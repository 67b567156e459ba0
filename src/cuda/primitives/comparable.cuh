#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/results/accumulator.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

template <class T, bool Floating = is_floating_element<T>>
struct ComparableOf;

template <class T>
struct ComparableOf<T, true> {
  using type = std::conditional_t<std::is_same_v<T, double>, double, float>;
};

template <class T>
struct ComparableOf<T, false> {
  using narrow = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  using type = std::conditional_t<(sizeof(T) > sizeof(narrow)), T, narrow>;
};

/// The arithmetic type in which elements of type T are compared: of the same values, order, key and
/// bits.
template <class T>
using Comparable = typename ComparableOf<T>::type;

__device__ inline float converted(Float16 element) {
#ifdef __CUDACC__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(element.bits));
  return value;
#else
  return element.to_float();
#endif
}

__device__ inline float converted(BFloat16 element) { return element.to_float(); }

template <class T>
__device__ Comparable<T> comparable(T element) {
  if constexpr (std::is_arithmetic_v<T>)
    return element;
  else
    return converted(element);
}

template <class C>
__device__ bool is_nan(C value) {
  if constexpr (std::is_integral_v<C>)
    return false;
  else
    return value != value;
}

/// Returns the first of the least (greatest) of two elements; the first NaN where there is one.
template <class C>
__device__ C first_extremum(C left, C right, bool maximum) {
  if (is_nan(left)) return left;
  const bool better = maximum ? right > left : right < left;
  return better || is_nan(right) ? right : left;
}

/// A double that is compared without FP64 arithmetic.
struct ComparedDouble {
  std::uint64_t bits = 0;

  /// Widens a float; a NaN becomes a quiet one.
  __device__ static ComparedDouble of(float value) {
    constexpr std::uint32_t infinity = 0x7f800000;
    constexpr std::uint32_t least_normal = 0x00800000;
    constexpr int bias = 1023 - 127;
    constexpr int scaling = 64;  // makes subnormal floats normal
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = word & 0x7fffffffu;
    const std::uint64_t sign = std::uint64_t{word >> 31} << 63;
    const auto placed = [&](std::uint32_t bits, int exponent) {
      return ComparedDouble{(std::uint64_t{bits} << 29) +
                            (static_cast<std::uint64_t>(exponent) << 52) + sign};
    };
    if (magnitude - least_normal < infinity - least_normal) return placed(magnitude, bias);
    if (magnitude >= infinity) return placed(magnitude | (magnitude > infinity) << 22, 2 * bias);
    if (magnitude == 0) return {sign};
    return placed(std::bit_cast<std::uint32_t>(value * 0x1p64f) & 0x7fffffffu, bias - scaling);
  }

  __device__ std::uint64_t magnitude() const { return bits & ~sign_bit<std::uint64_t>; }
  __device__ bool negative() const { return bits != magnitude(); }

  /// An integer of its order, the same for both zeros; not for NaN.
  __device__ std::int64_t order() const {
    const auto value = static_cast<std::int64_t>(magnitude());
    return negative() ? -value : value;
  }

  friend __device__ bool operator<(ComparedDouble a, ComparedDouble b) {
    return a.order() < b.order();
  }
  friend __device__ bool operator>(ComparedDouble a, ComparedDouble b) { return b < a; }
  friend __device__ bool operator==(ComparedDouble a, ComparedDouble b) {
    return a.order() == b.order();
  }
};

__device__ inline bool is_nan(ComparedDouble value) {
  return value.magnitude() > std::uint64_t{0x7ff} << 52;
}

using warpfold::ordered_key;
using warpfold::value_bits;

/// Returns the ordered_key() of the double.
__device__ inline std::uint64_t ordered_key(ComparedDouble value) {
  const auto key = static_cast<std::uint64_t>(value.order()) ^ sign_bit<std::uint64_t>;
  return value.order() < 0 ? key - 1 : key;
}

__device__ inline std::uint64_t value_bits(ComparedDouble value) { return value.bits; }

inline constexpr std::uint32_t no_offset = 0xffffffffu;

/// The best of the elements one thread met, in ascending order of their offsets.
template <class C>
struct Best {
  C value = C{};
  std::uint32_t offset = no_offset;

  /// Keeps the first of equal ones. Not for NaN.
  __device__ void take_lower(C candidate, std::uint32_t at) {
    if (candidate < value || offset == no_offset) *this = {candidate, at};
  }
  __device__ void take_higher(C candidate, std::uint32_t at) {
    if (candidate > value || offset == no_offset) *this = {candidate, at};
  }

  __device__ Extremum minimum(std::uint64_t first_index) const {
    if (offset == no_offset) return Extremum::none();
    return {ordered_key(value), first_index + offset, value_bits(value)};
  }
  __device__ Extremum maximum(std::uint64_t first_index) const {
    if (offset == no_offset) return Extremum::none();
    return {~ordered_key(value), first_index + offset, value_bits(value)};
  }
};

struct BetterExtremum {
  __device__ Extremum operator()(Extremum a, const Extremum& b) const {
    a.merge(b);
    return a;
  }
};

}  // namespace warpfold::cuda
