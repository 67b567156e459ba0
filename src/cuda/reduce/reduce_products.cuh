#pragma once

#include <cstdint>

#include "cuda/primitives/leading_bit.cuh"
#include "cuda/reduce/reduce_block.cuh"
#include "cuda/reduce/reduce_float_words.cuh"

namespace warpfold::cuda::kernels {

/// Binary orders that one bin of a thread collects.
inline constexpr int bin_orders = 16;

/// The sums of lower and of upper words, so that neither overflows.
struct LaneSums {
  std::int64_t low = 0;
  std::int64_t high = 0;

  __device__ void add(std::int64_t value) {
    low += static_cast<std::uint32_t>(value);
    high += value >> 32;
  }

  /// Adds those of all lanes, times 2^exponent, to a number that other threads add to. By all lanes
  /// of the warp.
  template <class Number>
  __device__ void add_to(Number& number, int exponent) const {
    if (!warp::any((low | high) != 0)) return;
    const std::int64_t lower = warp::reduce_xor(low, warp::Plus{});
    const std::int64_t upper = warp::reduce_xor(high, warp::Plus{});
    if (warp::lane() < 2)
      add_scaled(warp::lane() == 0 ? lower : upper, exponent + 32 * warp::lane(), number);
  }
};

/// An element as sums take it: +-significand * 2^shift of some unit.
template <class T>
struct ShiftedElement {
  std::uint32_t high;   ///< significand, of a double its upper word
  std::uint32_t low;    ///< lower word of a double's significand
  std::uint32_t shift;  ///< less than bin_orders
  std::int32_t sign;    ///< 0, or -1 where negative

  __device__ std::int32_t power() const { return (sign | 1) << shift; }
  __device__ std::int32_t magnitude_power() const { return 1 << shift; }
};

/// Signed integers of 64 bits, which lie together.
template <int Count>
struct alignas(8 * Count) Words64 {
  std::int64_t word[Count];
};

/// A sum of elements of type T, below 2^16 of them, as integers that need no carries: of the lower
/// words and of the rest.
template <class T>
struct ElementSum : Words64<FloatWords<T>::words> {
  static constexpr int words = FloatWords<T>::words;
  static constexpr std::uint32_t most_elements = std::uint32_t{1} << 16;

  __device__ void add(const ShiftedElement<T>& x, std::int32_t power) {
    if constexpr (words == 1) {
      add_product(this->word[0], x.high, power);
    } else {
      // The lower word counts as a signed one.
      add_product(this->word[0], x.low, power);
      add_product(this->word[1], x.high + (x.low >> 31), power);
    }
  }

 private:
  __device__ static void add_product(std::int64_t& sum, std::uint32_t a, std::int32_t b) {
    sum += static_cast<std::int64_t>(static_cast<std::int32_t>(a)) * b;
  }
};

/// A sum of squares: up to 2^17 of them, below 2^80 or 2^144.
template <class T>
struct SquareSum {
  static constexpr int words = 2 * FloatWords<T>::words + 1;

  std::uint32_t word[words];

  __device__ void add(const ShiftedElement<T>& x) {
    std::uint64_t upper = product(x.high, x.high, 0);
    std::uint32_t square[words - 1];
    if constexpr (words == 5) {
      const std::uint64_t lowest = product(x.low, x.low, 0);
      const std::uint64_t middle = product(2 * x.high, x.low, lowest >> 32);
      upper = product(x.high, x.high, middle >> 32);
      square[0] = static_cast<std::uint32_t>(lowest);
      square[1] = static_cast<std::uint32_t>(middle);
    }
    square[words - 3] = static_cast<std::uint32_t>(upper);
    square[words - 2] = static_cast<std::uint32_t>(upper >> 32);
    std::uint32_t shifted[words];
    shifted[0] = square[0] << 2 * x.shift;
#pragma unroll
    for (int k = 1; k < words - 1; ++k)
      shifted[k] = __funnelshift_l(square[k - 1], square[k], 2 * x.shift);
    shifted[words - 1] = __funnelshift_l(square[words - 2], 0, 2 * x.shift);
    add(shifted);
  }

 private:
  __device__ static std::uint64_t product(std::uint32_t a, std::uint32_t b, std::uint64_t addend) {
    return std::uint64_t{a} * b + addend;
  }

  __device__ void add(const std::uint32_t (&x)[3]) {
#ifdef __CUDACC__
    asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, %4; addc.u32 %2, %2, %5;"
        : "+r"(word[0]), "+r"(word[1]), "+r"(word[2])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]));
#else
    add_words(x);
#endif
  }

  __device__ void add(const std::uint32_t (&x)[5]) {
#ifdef __CUDACC__
    asm("add.cc.u32 %0, %0, %5; addc.cc.u32 %1, %1, %6; addc.cc.u32 %2, %2, %7;"
        "addc.cc.u32 %3, %3, %8; addc.u32 %4, %4, %9;"
        : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3]), "+r"(word[4])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]));
#else
    add_words(x);
#endif
  }

  __device__ void add_words(const std::uint32_t (&x)[words]) {
    std::uint64_t carried = 0;
    for (int k = 0; k < words; ++k) {
      carried = std::uint64_t{word[k]} + x[k] + (carried >> 32);
      word[k] = static_cast<std::uint32_t>(carried);
    }
  }
};

}  // namespace warpfold::cuda::kernels
