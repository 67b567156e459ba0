#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/values/ordered_key.hpp"
#include "cuda/labels/label_table.hpp"

namespace warpfold::cuda::kernels {

/// An element by its bits: +-magnitude() * 2^exponent(), unless it is not finite.
template <class Element>
class LabelElement {
 public:
  using Magnitude = Word<Element>;
  static constexpr bool floating = std::is_floating_point_v<Element>;

  __device__ explicit LabelElement(Element element) : bits_(std::bit_cast<Magnitude>(element)) {}

  __device__ bool negative() const {
    return !std::is_unsigned_v<Element> && (bits_ & sign_bit<Element>) != 0;
  }
  __device__ bool is_finite() const { return !floating || size() < infinity; }
  __device__ bool is_nan() const { return floating && size() > infinity; }

  __device__ Magnitude magnitude() const {
    if constexpr (!floating) return negative() ? 0 - bits_ : bits_;
    return field() == 0 ? size() : (size() & (leading_bit - 1)) | leading_bit;
  }
  __device__ int exponent() const {
    if constexpr (!floating) return 0;
    return least_exponent + (field() == 0 ? 0 : field() - 1);
  }

 private:
  static constexpr int fraction_bits = std::numeric_limits<Element>::digits - 1;
  static constexpr int least_exponent =
      std::numeric_limits<Element>::min_exponent - fraction_bits - 1;
  static constexpr Magnitude leading_bit = Magnitude{1} << fraction_bits;
  static constexpr auto infinity =
      std::bit_cast<Magnitude>(std::numeric_limits<Element>::infinity());

  __device__ Magnitude size() const { return bits_ & ~sign_bit<Element>; }
  __device__ int field() const { return static_cast<int>(size() >> fraction_bits); }

  Magnitude bits_;
};

/// A few digits of a sum, from the most significant one, each with a sign. Additions wrap around:
/// they commute.
template <int Count>
struct LabelDigits {
  std::int64_t digit[Count];

  __device__ static LabelDigits none() { return {}; }
  __device__ void add(const LabelDigits& other) {
#pragma unroll
    for (int i = 0; i < Count; ++i) digit[i] += other.digit[i];
  }
};

/// A number without a sign, in words from the least significant one.
template <int Count>
class LabelWords {
 public:
  template <class Number>
  __device__ explicit LabelWords(Number number) {
    constexpr int words = sizeof(Number) / sizeof(std::uint32_t);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      word_[i] = i < words ? static_cast<std::uint32_t>(number >> 32 * (i % words)) : 0;
  }

  /// Multiplies by 2^bits, at most 2^Most.
  template <int Most>
  __device__ void shift_left(unsigned bits) {
#pragma unroll
    for (int i = Count - 1; i > 0; --i) word_[i] = __funnelshift_l(word_[i - 1], word_[i], bits);
    word_[0] <<= bits % 32;
#pragma unroll
    for (int words = 1; words <= Most / 32; words *= 2) {
      const bool moves = (bits & 32u * words) != 0;
#pragma unroll
      for (int i = Count - 1; i >= 0; --i)
        if (moves) word_[i] = i < words ? 0 : word_[(i + Count - words) % Count];
    }
  }

  __device__ LabelDigits<Count> digits(bool negative) const {
    const std::int64_t flip = negative ? -1 : 0;
    LabelDigits<Count> digits;
#pragma unroll
    for (int i = 0; i < Count; ++i) digits.digit[Count - 1 - i] = (word_[i] ^ flip) - flip;
    return digits;
  }

 private:
  std::uint32_t word_[Count];
};

/// Returns the exponent of the power of two below which a term's digits are: for floats below
/// 2^(exponent + 1).
__device__ constexpr int exponent_above_digits(bool floating, LabelTerm term, int exponent) {
  if (!floating) return label_digit_bits * digit_stride(false, term);
  return (exponent + 1) * (term == LabelTerm::square ? 2 : 1);
}

/// The exact sum that a term's limbs are of.
template <LabelTerm term>
using LabelSum = std::conditional_t<term == LabelTerm::square, ExactSumOfSquares, ExactSum>;

}  // namespace warpfold::cuda::kernels
