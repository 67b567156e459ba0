#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// A Float16Bits is a floating-point number of 16 bits, IEEE 754 in all but its widths: 1 sign bit,
/// then `15 - MantissaBits` exponent bits, then the mantissa. Storage only: arithmetic happens in
/// wider types, to which every value converts exactly.
template <int MantissaBits>
struct Float16Bits {
  static constexpr int mantissa_bits = MantissaBits;
  static constexpr int exponent_bits = 15 - MantissaBits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;

  std::uint16_t bits = 0;

  /// Rounds to the nearest value, ties to even, rounded once; NaN becomes the canonical quiet NaN.
  WARPFOLD_HD static Float16Bits from_double(double value);

  /// Returns the value, exactly.
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

template <int MantissaBits>
WARPFOLD_HD Float16Bits<MantissaBits> Float16Bits<MantissaBits>::from_double(double value) {
  constexpr int exponent_limit = (1 << exponent_bits) - 1;
  constexpr std::uint16_t infinite_bits =
      static_cast<std::uint16_t>(exponent_limit << MantissaBits);
  const std::uint64_t raw = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((raw >> 48) & 0x8000u);
  const int exponent = static_cast<int>((raw >> 52) & 0x7ffu) - 1023;
  const std::uint64_t fraction = raw & ((std::uint64_t{1} << 52) - 1);
  const auto with_sign = [sign](std::uint64_t magnitude) {
    return Float16Bits{static_cast<std::uint16_t>(sign | magnitude)};
  };
  if (exponent == 1024) {
    if (fraction != 0)
      return Float16Bits{static_cast<std::uint16_t>(infinite_bits | (1u << (MantissaBits - 1)))};
    return with_sign(infinite_bits);
  }
  if (exponent > bias) return with_sign(infinite_bits);
  const int lowest_normal = 1 - bias;
  if (exponent < lowest_normal - MantissaBits - 1) return with_sign(0);
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const int drop = 52 - MantissaBits + (exponent < lowest_normal ? lowest_normal - exponent : 0);
  const std::uint64_t kept = significand >> drop;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rounded = kept + ((rest > half || (rest == half && (kept & 1))) ? 1 : 0);
  // A carry out of the mantissa steps the exponent by itself, up to infinity.
  const int biased = exponent < lowest_normal ? 0 : exponent + bias - 1;
  return with_sign((static_cast<std::uint64_t>(biased) << MantissaBits) + rounded);
}

}  // namespace warpfold
