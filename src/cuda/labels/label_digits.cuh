#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/expansion.hpp"
#include "core/numeric/fixed_point.hpp"
#include "cuda/labels/label_table.hpp"

namespace warpfold::cuda::kernels {

inline constexpr int float_digit_bits = 38;
inline constexpr int integer_digit_bits = 32;

/// Returns 2^exponent, a normal double.
__device__ inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// A few digits of a sum, each with a sign. Additions wrap around: they commute.
template <int Count>
struct LabelDigits {
  std::int64_t digit[Count];

  __device__ static LabelDigits none() { return {}; }
  __device__ void add(const LabelDigits& other) {
#pragma unroll
    for (int i = 0; i < Count; ++i) digit[i] += other.digit[i];
  }
};

/// Takes floats apart into digits of 38 bits below a power of two, by additions that round to a
/// digit's unit. A digit is at most 2^38: most_unfolded of them fit a word.
template <int Digits>
class DigitWindow {
 public:
  /// For floats below 2^(exponent + 1), but for the greatest and least exponents.
  __device__ explicit DigitWindow(int exponent) {
    constexpr int least = -1030 + float_digit_bits * (Digits - 1);
    constexpr int greatest = 1000;
    const int top = exponent < least ? least : exponent > greatest ? greatest : exponent;
    unit_ = top + 1 - float_digit_bits;
    limit_ = power_of_two(top + 1);
#pragma unroll
    for (int i = 0; i < Digits; ++i) rounder_[i] = 1.5 * power_of_two(52 + unit(i));
  }

  /// Returns the exponent of a digit's unit.
  __device__ int unit(int digit) const { return unit_ - float_digit_bits * digit; }

  __device__ double limit() const { return limit_; }

  /// Adds a float below the limit, from the digit `First` on, of which it is at most half a unit
  /// of the one before. Returns what is left.
  template <int First = 0>
  __device__ double add(double value, LabelDigits<Digits>& sum) const {
#pragma unroll
    for (int i = First; i < Digits; ++i) {
      const double rounded = value + rounder_[i];
      sum.digit[i] +=
          std::bit_cast<std::int64_t>(rounded) - std::bit_cast<std::int64_t>(rounder_[i]);
      value -= rounded - rounder_[i];
    }
    return value;
  }

 private:
  int unit_;
  double limit_;
  double rounder_[Digits];
};

/// Returns the exponent of the window of a term, given that of the elements.
__device__ constexpr int term_exponent(LabelTerm term, int exponent) {
  return term == LabelTerm::square ? 2 * exponent + 1 : exponent;
}

/// Returns the exponent of the unit of a digit of a term.
template <bool floating, LabelTerm term>
__device__ int digit_unit(int exponent, int digit) {
  constexpr int digits = label_digits(floating, term);
  if constexpr (!floating) return integer_digit_bits * (digits - 1 - digit);
  return DigitWindow<digits>(term_exponent(term, exponent)).unit(digit);
}

/// Calls emit(limb, addend) for the limbs of a term's number, which is exact.
template <class Number, class Emit>
__device__ void label_limbs(LabelTerm term, const Number& number, Emit&& emit) {
  term == LabelTerm::square ? ExactSumOfSquares::digits(number, emit)
                            : ExactSum::digits(number, emit);
}

}  // namespace warpfold::cuda::kernels
