#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// A 16-bit floating-point format that follows IEEE 754: a sign bit, exponent bits, mantissa bits.
/// Its members are what rounding needs, as upper words of doubles.
struct Float16Format {
  std::uint32_t least_normal;   ///< word of the smallest normal number
  std::uint32_t largest_power;  ///< word of the largest power of two
  /// Difference between the upper words of a power of two and of 2^52 of its units in the last
  /// place.
  std::uint32_t units_above;
  std::uint32_t dropped_bits;  ///< bits of a word's significand below those of a number

  /// Returns the format with this number of mantissa bits: 10 for binary16, 7 for bfloat16.
  static constexpr Float16Format of(unsigned mantissa_bits) {
    const unsigned bias = (1u << (14 - mantissa_bits)) - 1;
    return {(1024 - bias) << 20, (1023 + bias) << 20, (52 - mantissa_bits) << 20,
            20 - mantissa_bits};
  }

  /// Returns the bits of the nearest value, ties to even, rounded once; for NaN the canonical quiet
  /// NaN.
  WARPFOLD_HD std::uint16_t rounded(double value) const;
};

/// A number of such a format, for storage only: arithmetic uses wider types, to which every value
/// converts exactly.
template <int MantissaBits>
struct Float16Bits {
  static constexpr int mantissa_bits = MantissaBits;           ///< without the leading one
  static constexpr int exponent_bits = 15 - MantissaBits;      ///< the others but the sign
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;  ///< bias of stored exponents

  std::uint16_t bits = 0;  ///< as stored, in native byte order

  /// Rounds a double with Float16Format::rounded().
  WARPFOLD_HD static Float16Bits from_double(double value) {
    constexpr auto format = Float16Format::of(MantissaBits);
    return {format.rounded(value)};
  }

  /// Returns the exact value.
  WARPFOLD_HD float to_float() const;
};

using Float16 = Float16Bits<10>;  ///< IEEE 754 binary16
using BFloat16 = Float16Bits<7>;  ///< the upper half of a binary32

template <int MantissaBits>
WARPFOLD_HD float Float16Bits<MantissaBits>::to_float() const {
  constexpr std::uint32_t exponent_mask = (1u << exponent_bits) - 1;
  constexpr std::uint32_t mantissa_mask = (1u << MantissaBits) - 1;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> MantissaBits) & exponent_mask;
  const std::uint32_t mantissa = bits & mantissa_mask;
  if constexpr (exponent_bits == 8) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  } else {
    if (exponent == exponent_mask)
      return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << (23 - MantissaBits)));
    if (exponent == 0) {
      // A subnormal is mantissa * 2^(1 - bias - MantissaBits), exact in binary32.
      constexpr float unit = 1.0f / static_cast<float>(1u << (bias - 1 + MantissaBits));
      const float magnitude = static_cast<float>(mantissa) * unit;
      return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t rebiased = exponent + (127u - static_cast<std::uint32_t>(bias));
    return std::bit_cast<float>(sign | (rebiased << 23) | (mantissa << (23 - MantissaBits)));
  }
}

WARPFOLD_HD inline std::uint16_t Float16Format::rounded(double value) const {
  const auto word = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
  const std::uint32_t sign = (word >> 16) & 0x8000u;
  const std::uint32_t power = word & 0x7ff00000u;
  if (power > largest_power) {
    const std::uint32_t unit = 0x100000u >> dropped_bits;  // of the exponent
    const std::uint32_t infinite = 0x8000u - unit;
    return static_cast<std::uint16_t>(value != value ? infinite + unit / 2 : sign + infinite);
  }
  // The value is rounded to a number of units of its last place as it is added to 2^52 of them. As
  // many more, an even number, make the word's exponent the format's.
  const std::uint32_t normal = power < least_normal ? least_normal : power;
  const std::uint64_t rebiased = 0u - (least_normal >> dropped_bits);
  const auto units = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(
      std::bit_cast<double>(std::uint64_t{normal + units_above} << 32 | rebiased) +
      std::fabs(value)));
  // A carry out of the mantissa steps the exponent by itself, up to infinity.
  return static_cast<std::uint16_t>(sign + (normal >> dropped_bits) + units);
}

}  // namespace warpfold
