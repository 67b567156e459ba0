#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numeric/double_pair.hpp"
#include "core/numeric/rounding.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {

/// A scaled integer is (-1)^negative * magnitude * 2^exponent.
struct ScaledInteger {
  std::uint64_t magnitude;
  int exponent;
  bool negative;
};

/// Takes a finite double apart.
WARPFOLD_HD inline ScaledInteger scaled_integer(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent_field = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const bool negative = (bits >> 63) != 0;
  if (exponent_field == 0) return {fraction, -1074, negative};
  return {fraction | (std::uint64_t{1} << 52), exponent_field - 1075, negative};
}

/// A fixed-point number has a sign, `LowLimbs` 32-bit digits after the binary point and `HighLimbs`
/// before it. Each digit sits in a signed 64-bit limb, so that carries can wait: numbers add limb
/// by limb, in any order and by atomics or MPI_SUM over MPI_INT64_T.
///
/// Bound: after normalize() every digit but the top one lies in [0, 2^32). Adding a double or a
/// 64-bit integer changes a limb by less than 2^32, adding a square or a 128-bit integer by less
/// than 1.5 * 2^32. A limb therefore takes 2^30 additions of any kind before it must be normalized:
/// 2^32 + 2^30 * 1.5 * 2^32 < 2^63.
template <int LowLimbs, int HighLimbs>
struct FixedPoint {
  static constexpr int low_limbs = LowLimbs;
  static constexpr int limbs = LowLimbs + HighLimbs;
  static constexpr int no_bit = INT32_MAX;

  std::int64_t limb[static_cast<std::size_t>(limbs)];

  /// Calls emit(limb index, addend) for each digit of `value`: how to add it, here or by atomics.
  template <class Emit>
  WARPFOLD_HD static void digits(ScaledInteger value, Emit&& emit) {
    const int position = value.exponent + 32 * LowLimbs;
    const int first = position >> 5;
    const int shift = position & 31;
    const std::uint64_t low = value.magnitude << shift;
    const std::uint64_t high = shift == 0 ? 0 : value.magnitude >> (64 - shift);
    const auto put = [&](int index, std::uint64_t digit) {
      const auto addend = static_cast<std::int64_t>(digit);
      if (digit != 0) emit(index, value.negative ? -addend : addend);
    };
    put(first, low & 0xffffffffu);
    put(first + 1, low >> 32);
    put(first + 2, high);
  }

  /// Calls emit() for the digits of a finite double.
  template <class Emit>
  WARPFOLD_HD static void digits(double value, Emit&& emit) {
    digits(scaled_integer(value), emit);
  }

  /// Calls emit() for the digits of a finite double's square, without rounding or underflow.
  template <class Emit>
  WARPFOLD_HD static void square_digits(double value, Emit&& emit) {
    product_digits(value, value, emit);
  }

  /// Calls emit() for the digits of the exact product of two finite doubles.
  template <class Emit>
  WARPFOLD_HD static void product_digits(double a, double b, Emit&& emit) {
    const ScaledInteger first = scaled_integer(a);
    const ScaledInteger second = scaled_integer(b);
    digits(static_cast<uint128>(first.magnitude) * second.magnitude,
           first.exponent + second.exponent, first.negative != second.negative, emit);
  }

  /// Calls emit() for the digits of an unsigned integer times 2^exponent.
  template <class Emit>
  WARPFOLD_HD static void digits(uint128 magnitude, int exponent, bool negative, Emit&& emit) {
    digits(ScaledInteger{static_cast<std::uint64_t>(magnitude), exponent, negative}, emit);
    digits(ScaledInteger{static_cast<std::uint64_t>(magnitude >> 64), exponent + 64, negative},
           emit);
  }

  WARPFOLD_HD void add(double value) {
    digits(value, [this](int index, std::int64_t addend) { limb[index] += addend; });
  }

  WARPFOLD_HD void add_square(double value) {
    square_digits(value, [this](int index, std::int64_t addend) { limb[index] += addend; });
  }

  WARPFOLD_HD void add_product(double a, double b) {
    product_digits(a, b, [this](int index, std::int64_t addend) { limb[index] += addend; });
  }

  WARPFOLD_HD void add(int128 value) {
    const bool negative = value < 0;
    const auto magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
    digits(magnitude, 0, negative,
           [this](int index, std::int64_t addend) { limb[index] += addend; });
  }

  WARPFOLD_HD void add(uint128 magnitude, int exponent) {
    digits(magnitude, exponent, false,
           [this](int index, std::int64_t addend) { limb[index] += addend; });
  }

  WARPFOLD_HD void add(const FixedPoint& other) {
    for (int i = 0; i < limbs; ++i) limb[i] += other.limb[i];
  }

  /// Adds a normalized number of fewer digits on both sides.
  template <int Low, int High>
  void add_narrower(const FixedPoint<Low, High>& other) {
    static_assert(Low <= LowLimbs && High <= HighLimbs);
    for (int i = 0; i < other.limbs; ++i) limb[LowLimbs - Low + i] += other.limb[i];
  }

  /// Adds the product of a normalized number and a finite double, of which each digit fits.
  template <int Low, int High>
  void add_product(const FixedPoint<Low, High>& number, double factor) {
    const ScaledInteger scaled = scaled_integer(factor);
    for (int i = 0; i < number.limbs; ++i) {
      const bool negative = number.limb[i] < 0;
      const auto digit = static_cast<std::uint64_t>(negative ? -number.limb[i] : number.limb[i]);
      if (digit != 0)
        digits(static_cast<uint128>(digit) * scaled.magnitude, 32 * (i - Low) + scaled.exponent,
               negative != scaled.negative,
               [this](int index, std::int64_t addend) { limb[index] += addend; });
    }
  }

  /// Propagates carries: every digit but the top one ends in [0, 2^32); the top one has the sign.
  WARPFOLD_HD void normalize() {
    std::int64_t carry = 0;
    for (int i = 0; i < limbs - 1; ++i) {
      const std::int64_t digit = limb[i] + carry;
      carry = digit >> 32;
      limb[i] = digit & 0xffffffff;
    }
    limb[limbs - 1] += carry;
  }

  /// Tells the sign of a normalized number.
  WARPFOLD_HD bool negative() const { return limb[limbs - 1] < 0; }

  WARPFOLD_HD void negate() {
    for (int i = 0; i < limbs; ++i) limb[i] = -limb[i];
    normalize();
  }

  /// Returns this number rounded once to the nearest double (ties to even; to
  /// infinity beyond its range) or to an odd one. Zero is +0.0.
  WARPFOLD_HD double rounded(Rounding rounding = Rounding::nearest) const {
    FixedPoint magnitude = *this;
    magnitude.normalize();
    const bool is_negative = magnitude.negative();
    if (is_negative) magnitude.negate();
    const double value = magnitude.rounded_magnitude(rounding);
    return is_negative ? -value : value;
  }

  /// Returns this number as the pair whose high part is rounded() and whose low part is the rest,
  /// rounded once; anything where the high part is infinite.
  WARPFOLD_HD DoublePair rounded_pair() const {
    const double high = rounded();
    FixedPoint rest = *this;
    rest.add(-high);
    return {high, rest.rounded()};
  }

  /// Returns the exponent of the least bit of a normalized number, `no_bit` for zero.
  WARPFOLD_HD int least_bit() const {
    for (int i = 0; i < limbs; ++i)
      if (limb[i] != 0)
        return 32 * (i - LowLimbs) + trailing_zeros(static_cast<std::uint32_t>(limb[i]));
    return no_bit;
  }

 private:
  /// Rounds a normalized, non-negative number.
  WARPFOLD_HD double rounded_magnitude(Rounding rounding) const {
    int top = limbs - 1;
    while (top >= 0 && limb[top] == 0) --top;
    if (top < 0) return 0.0;
    const auto digit = [this](int index) {
      return index < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(limb[index]);
    };
    const int lead = 63 - leading_zeros(digit(top));
    // The three leading digits, 96 bits, hold the 64 leading bits.
    std::uint64_t significand = (digit(top) << 32 | digit(top - 1)) << (31 - lead);
    significand |= digit(top - 2) >> (lead + 1);
    bool sticky = (digit(top - 2) & ((std::uint64_t{2} << lead) - 1)) != 0;
    for (int i = top - 3; i >= 0 && !sticky; --i) sticky = limb[i] != 0;
    return round_to_double(significand, 32 * (top - LowLimbs) + lead, sticky, rounding);
  }
};

/// Covers 2^-1088 to 2^1088: any sum of fewer than 2^64 doubles, and of 64-bit integers.
using ExactSum = FixedPoint<34, 34>;

/// Returns a normalized sum of integers, which has no digits after the point: its low 128 bits.
inline int128 integer_of(const ExactSum& sum) {
  uint128 value = 0;
  for (int i = 3; i >= 0; --i)
    value = value << 32 | static_cast<std::uint32_t>(sum.limb[ExactSum::low_limbs + i]);
  return static_cast<int128>(value);
}

/// Covers 2^-2176 to 2^2176: any sum of fewer than 2^64 squares of doubles, and of 64-bit integers.
using ExactSumOfSquares = FixedPoint<68, 68>;

/// Covers 2^-3264 to 2^3264: any such sum of squares times doubles.
using ExactSumOfWeightedSquares = FixedPoint<102, 102>;

}  // namespace warpfold
