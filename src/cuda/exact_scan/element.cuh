#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/leading_bit.cuh"
#include "cuda/primitives/placed_float.hpp"
#include "cuda/primitives/warp.cuh"
#include "warpfold/core/int128.hpp"

/// Elements as integers: a significand, a sign and the field of an exponent.
namespace warpfold::cuda::kernels {

/// Returns value << by; 0 for 32 or more.
__device__ inline std::int32_t shifted_left(std::int32_t value, int by) {
#ifdef __CUDA_ARCH__
  std::int32_t shifted;
  asm("shl.b32 %0, %1, %2;" : "=r"(shifted) : "r"(value), "r"(by));
  return shifted;
#else
  return static_cast<unsigned>(by) < 32
             ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << by)
             : 0;
#endif
}

__device__ inline std::int64_t shifted_left(std::int64_t value, std::uint32_t by) {
#ifdef __CUDA_ARCH__
  std::int64_t shifted;
  asm("shl.b64 %0, %1, %2;" : "=l"(shifted) : "l"(value), "r"(by));
  return shifted;
#else
  return by < 64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << by) : 0;
#endif
}

/// Returns value >> by, rounded downwards; by may exceed 63.
__device__ inline std::int64_t shifted_right(std::int64_t value, std::uint32_t by) {
#ifdef __CUDA_ARCH__
  std::int64_t shifted;
  asm("shr.s64 %0, %1, %2;" : "=l"(shifted) : "l"(value), "r"(by));
  return shifted;
#else
  return value >> (by < 64 ? by : 63);
#endif
}

/// Adds a * b to a sum: nvcc makes a longer product of factors of which it knows that one is not
/// negative.
__device__ inline void add_product(std::int64_t& sum, std::int32_t a, std::int32_t b) {
#ifdef __CUDA_ARCH__
  asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(sum) : "r"(a), "r"(b));
#else
  sum += std::int64_t{a} * b;
#endif
}

/// Returns 2 * word, from which the compiler makes no masks.
__device__ inline std::uint32_t doubled(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  std::uint32_t result;
  asm("shl.b32 %0, %1, 1;" : "=r"(result) : "r"(word));
  return result;
#else
  return word << 1;
#endif
}

/// The parts of a float's bits. `Lowest`: it may be subnormal or zero.
template <class T>
struct ElementParts {
  using Placed = PlacedFloat<T>;
  using Bits = typename Placed::Bits;

  static constexpr int exponent_bits = Placed::exponent_bits;
  static constexpr int fraction_bits = significand_bits<T> - 1;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr bool is_double = sizeof(Bits) == 8;

  std::uint32_t head;  ///< the upper 32 bits: sign, exponent, fraction
  std::uint32_t tail;  ///< the lower 32 bits of a double

  __device__ explicit ElementParts(Bits bits) {
    if constexpr (is_double) {
      head = static_cast<std::uint32_t>(bits >> 32);
      tail = static_cast<std::uint32_t>(bits);
    } else {
      head = static_cast<std::uint32_t>(bits) << (32 - 8 * static_cast<int>(sizeof(Bits)));
      tail = 0;
    }
  }

  __device__ std::int32_t sign_mask() const { return static_cast<std::int32_t>(head) >> 31; }

  /// The head without its sign, times two.
  __device__ std::uint32_t magnitude() const { return doubled(head); }
  /// 0 for zeros alone.
  __device__ std::uint32_t any_bit() const { return magnitude() | tail; }
  __device__ int field() const { return static_cast<int>(magnitude() >> (32 - exponent_bits)); }

  /// Returns the exponent's field, that of a subnormal number as 1.
  template <bool Lowest>
  __device__ int field_of() const {
    return Lowest ? max(field(), 1) : field();
  }

  /// The significand's upper part: all of it, but for doubles; these have 32 bits more.
  template <bool Lowest>
  __device__ std::int32_t significand() const {
    constexpr int bits = is_double ? 20 : fraction_bits;
    return static_cast<std::int32_t>(upper_part<Lowest, bits>(head >> (31 - exponent_bits - bits)));
  }

  /// The significand with its leading bit as bit 62, times -1 where `sign` is -1 instead of 0.
  template <bool Lowest>
  __device__ std::int64_t aligned(std::int32_t sign) const {
    const auto high = static_cast<std::int32_t>(upper_part<Lowest, 30>(
        is_double ? __funnelshift_l(tail, head, 10) : head << (exponent_bits - 1)));
    if constexpr (is_double) {
      const std::uint64_t wide = std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | tail << 10;
      return (static_cast<std::int64_t>(wide) ^ sign) - sign;
    } else {
      return static_cast<std::int64_t>(
          std::uint64_t{static_cast<std::uint32_t>((high ^ sign) - sign)} << 32);
    }
  }

  /// Returns PlacedFloat's word of a magnitude().
  __device__ static std::uint32_t placed_word(std::uint32_t magnitude) {
    return magnitude >> (12 - exponent_bits);
  }

 private:
  template <bool Lowest, int Bits>
  __device__ std::uint32_t upper_part(std::uint32_t fraction) const {
    if constexpr (Lowest)
      return (fraction & ((1u << Bits) - 1)) | (field() != 0 ? 1u << Bits : 0u);
    else
      return with_leading_bit<Bits>(fraction);
  }
};

/// An exact sum of elements of 28 binary orders, without carries: low + 2^32 * high units of
/// 2^unit(). Up to 32 elements, of doubles 31.
template <class T>
class NarrowSum {
 public:
  using Parts = ElementParts<T>;
  using Bits = typename Parts::Bits;

  static constexpr int orders = 28;

  std::int64_t low = 0;
  std::int64_t high = 0;  ///< zero but for doubles
  std::uint32_t greatest = 0;
  std::uint32_t left = 0;  ///< not 0 if some elements are below

  __device__ explicit NarrowSum(int first_field) : first_(first_field) {}

  __device__ static int unit(int first_field) {
    return first_field - Parts::bias - Parts::fraction_bits;
  }

  template <bool Lowest>
  __device__ void add(Bits bits) {
    const Parts parts(bits);
    const int shift = parts.template field_of<Lowest>() - first_;
    const std::int32_t power = shifted_left(parts.sign_mask() | 1, shift);
    const std::int32_t significand = parts.template significand<Lowest>();
    if constexpr (Parts::is_double) {
      // The lower word counts as a signed one.
      add_product(low, static_cast<std::int32_t>(parts.tail), power);
      add_product(high, significand + static_cast<std::int32_t>(parts.tail >> 31), power);
    } else {
      add_product(low, significand, power);
    }
    greatest = max(greatest, parts.magnitude());
    if (shift < 0) left |= parts.any_bit();
  }

  /// Makes sums of lanes fit.
  __device__ void carry() {
    if constexpr (Parts::is_double) {
      high += low >> 32;
      low &= 0xffffffff;
    }
  }

  __device__ static int128 value(std::int64_t low, std::int64_t high) {
    return (static_cast<int128>(high) << 32) + low;
  }

 private:
  int first_;
};

/// An exact sum of elements of more binary orders, in units of 2^unit.
template <class T>
class WideSum {
 public:
  using Parts = ElementParts<T>;
  using Bits = typename Parts::Bits;

  int128 sum = 0;
  std::uint32_t greatest = 0;
  std::uint32_t left = 0;  ///< not 0 if some elements may have bits below a unit

  __device__ explicit WideSum(int unit) : last_field_(unit + 126 + Parts::bias) {}

  /// The element is below 2^126 units.
  __device__ void add(Bits bits) {
    const Parts parts(bits);
    const auto by = static_cast<std::uint32_t>(last_field_ - parts.template field_of<true>());
    const std::int64_t significand = parts.template aligned<true>(parts.sign_mask());
    const std::int64_t lower =
        by < 64 ? shifted_left(significand, 64 - by) : shifted_right(significand, by - 64);
    sum += static_cast<int128>(shifted_right(significand, by)) << 64 |
           static_cast<std::uint64_t>(lower);
    greatest = max(greatest, parts.magnitude());
    if (by > 126 - Parts::fraction_bits) left |= parts.any_bit();
  }

 private:
  int last_field_;  ///< the field of 2^126 units
};

}  // namespace warpfold::cuda::kernels
