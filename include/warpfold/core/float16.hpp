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
  constexpr std::uint32_t infinite_bits = ((1u << exponent_bits) - 1) << MantissaBits;
  constexpr std::uint32_t nan_bits = infinite_bits | 1u << (MantissaBits - 1);
  const auto high = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
  const std::uint32_t sign = (high >> 16) & 0x8000u;
  const int exponent = static_cast<int>((high >> 20) & 0x7ffu) - 1023;
  if (exponent > bias)
    return {static_cast<std::uint16_t>(value != value ? nan_bits : sign | infinite_bits)};
  // The value is rounded to a number of units of its last place as it is added to 2^52 of them.
  const int normal_exponent = exponent < 1 - bias ? 1 - bias : exponent;
  const int units_exponent = 52 + normal_exponent - MantissaBits;
  const double sum =
      std::bit_cast<double>(static_cast<std::uint64_t>(units_exponent + 1023) << 52) +
      std::fabs(value);
  const auto units = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(sum));
  // A carry out of the mantissa steps the exponent by itself, up to infinity.
  const auto below = static_cast<std::uint32_t>(normal_exponent + bias - 1) << MantissaBits;
  return {static_cast<std::uint16_t>(sign | (below + units))};
}

}  // namespace warpfold
