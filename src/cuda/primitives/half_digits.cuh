#pragma once

#include <cstdint>

namespace warpfold::cuda::kernels {

inline constexpr int half_digit_bits = 16;

/// Returns how many half digits an addend of so many bits takes, at any place.
constexpr int half_digits_of(int addend_bits) {
  return (addend_bits + 2 * half_digit_bits - 2) / half_digit_bits;
}

/// Calls add(i, digit) for each signed digit i of 16 bits that +-magnitude * 2^place has. The
/// magnitude is an integer of 64 bits, or of 128 and less than 2^112, and has AddendBits at most.
template <int AddendBits, class Magnitude, class Add>
__device__ void add_half_digits(Magnitude magnitude, int place, bool negative, Add add) {
  constexpr int digits = half_digits_of(AddendBits);
  constexpr int in_low = 8 * sizeof(Magnitude) / half_digit_bits;
  const int first = place / half_digit_bits;
  const int shift = place % half_digit_bits;
  const Magnitude low = magnitude << shift;
  const auto put = [&](int i, Magnitude part) {
    const auto digit = static_cast<std::int32_t>(part % (1u << half_digit_bits));
    add(first + i, negative ? -digit : digit);
  };
#pragma unroll
  for (int i = 0; i < in_low && i < digits; ++i) put(i, low >> (i * half_digit_bits));
  if constexpr (in_low < digits) put(in_low, magnitude >> (63 - shift) >> 1);
}

}  // namespace warpfold::cuda::kernels
