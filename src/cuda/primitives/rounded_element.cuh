#pragma once

#include <bit>
#include <cstdint>

#include "core/values/byte_order.hpp"
#include "cuda/primitives/placed_float.hpp"

/// Rounding of doubles to floating-point elements, by integers.
namespace warpfold::cuda::kernels {

/// Rounds a double, which is not NaN, to the nearest number of a format, ties to even; returns its
/// bits, the sign apart.
__device__ inline std::uint32_t rounded_magnitude(double value, int fraction_bits, int bias) {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(value) << 1 >> 1;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const std::uint32_t infinity = static_cast<std::uint32_t>(2 * bias + 1) << fraction_bits;
  if (exponent > bias) return infinity;
  const std::uint64_t significand = (magnitude & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1}
                                                                                       << 52;
  const int least = 1 - bias;
  const int kept_exponent = max(exponent, least);
  const int bits = min(kept_exponent - exponent + 52 - fraction_bits, 55);
  const auto kept = static_cast<std::uint32_t>(significand >> bits);
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  const std::uint64_t rest = significand & ((half << 1) - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return (static_cast<std::uint32_t>(kept_exponent - least) << fraction_bits) + kept + (up ? 1 : 0);
}

/// Returns the bits of the nearest number of a format as wide as `Bits`; NaN becomes the canonical
/// one.
template <class Bits>
__device__ Bits rounded_bits(double value, int fraction_bits, int bias) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52;
  const bool nan = bits << 1 > infinity << 1;
  if constexpr (sizeof(Bits) == sizeof(double)) {
    return nan ? infinity | std::uint64_t{1} << 51 : bits;
  } else {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (8 * sizeof(Bits) - 1);
    const std::uint32_t quiet =
        (static_cast<std::uint32_t>(2 * bias + 1) << fraction_bits) | 1u << (fraction_bits - 1);
    return static_cast<Bits>(nan ? quiet : sign | rounded_magnitude(value, fraction_bits, bias));
  }
}

/// Returns output_element<Out>(value), of a double that is an Out or was rounded to odd.
template <class Out>
__device__ Out rounded_element(double value) {
  constexpr int bias = (1 << (PlacedFloat<Out>::exponent_bits - 1)) - 1;
  return std::bit_cast<Out>(rounded_bits<Word<Out>>(value, significand_bits<Out> - 1, bias));
}

}  // namespace warpfold::cuda::kernels
