#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// Returns whether a finite number has bits below 2^unit.
WARPFOLD_HD inline bool has_bits_below(double value, int unit) {
  const ScaledInteger number = scaled_integer(value);
  const int below = unit - number.exponent;
  return below > 0 && (below > 63 ? number.magnitude : number.magnitude << (64 - below)) != 0;
}

/// A whole number of units of 2^unit, in two's complement. Wraps beyond 32 * Digits bits.
template <int Digits>
struct WideNumber {
  std::uint32_t digit[static_cast<std::size_t>(Digits)];

  /// `value` has to be a whole number of units.
  WARPFOLD_HD void add(double value, int unit) {
    const ScaledInteger addend = scaled_integer(value);
    const int place = addend.exponent - unit;
    // Bits below the unit are zeros.
    const int dropped = place < 0 ? (place < -63 ? 63 : -place) : 0;
    const std::uint64_t magnitude = addend.magnitude >> dropped;
    const int first = place < 0 ? 0 : place >> 5;
    const int shift = place < 0 ? 0 : place & 31;
    const std::uint64_t shifted = magnitude << shift;
    const auto low = static_cast<std::uint32_t>(shifted);
    const auto middle = static_cast<std::uint32_t>(shifted >> 32);
    const auto high = static_cast<std::uint32_t>(shift == 0 ? 0 : magnitude >> (64 - shift));
    const std::uint32_t flip = addend.negative ? ~0u : 0u;
    std::uint64_t carry = addend.negative ? 1 : 0;
#ifdef __CUDA_ARCH__
#pragma unroll(Digits <= 8 ? Digits : 1)
#endif
    for (int i = 0; i < Digits; ++i) {
      const std::uint32_t own = i == first       ? low
                                : i == first + 1 ? middle
                                : i == first + 2 ? high
                                                 : 0;
      carry += std::uint64_t{digit[i]} + (own ^ flip);
      digit[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

  /// Rounds as ExactSum::rounded() does; `more` tells whether the number is above this, by less
  /// than a unit.
  WARPFOLD_HD double rounded(Rounding rounding, int unit, bool more = false) const {
    const bool negative = digit[Digits - 1] >> 31 != 0;
    const std::uint32_t flip = negative ? ~0u : 0u;
    std::uint64_t carry = negative && !more ? 1 : 0;
    std::uint32_t top[3] = {};  // the leading digit that is not zero, and those below
    std::uint32_t below[2] = {};
    std::uint32_t rest = 0;
    std::uint32_t passed = 0;
    int top_place = 0;
#ifdef __CUDA_ARCH__
#pragma unroll(Digits <= 9 ? Digits : 1)
#endif
    for (int i = 0; i < Digits; ++i) {
      carry += digit[i] ^ flip;
      const auto magnitude = static_cast<std::uint32_t>(carry);
      carry >>= 32;
      if (magnitude != 0) {
        top[0] = magnitude;
        top[1] = below[0];
        top[2] = below[1];
        rest = passed;
        top_place = i;
      }
      passed |= below[1];
      below[1] = below[0];
      below[0] = magnitude;
    }
    if (top[0] == 0) return 0.0;
    const int zeros = leading_zeros(top[0]) - 32;
    const std::uint64_t leading = std::uint64_t{top[0]} << 32 | top[1];
    const std::uint64_t significand = leading << zeros | std::uint64_t{top[2]} >> (32 - zeros);
    const bool sticky = more || rest != 0 || (top[2] << zeros) != 0;
    const double value =
        round_to_double(significand, unit + 32 * top_place + 31 - zeros, sticky, rounding);
    const std::uint64_t sign = std::uint64_t{negative} << 63;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | sign);
  }
};

}  // namespace warpfold::cuda::kernels
