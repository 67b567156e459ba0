#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpfold/core/host_device.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {

/// A rounding makes a number between two doubles one of them: the nearest, ties to even, or the one
/// whose last bit is set, which may be rounded once more, to any format of at most 51 bits, as if
/// the number itself were.
enum class Rounding : std::uint8_t { nearest, odd };

/// The rounding that a number needs on its way through a double to the floating-point type Out is
/// `odd` unless Out is double.
template <class Out>
inline constexpr Rounding rounding_towards =
    std::is_same_v<Out, double> ? Rounding::nearest : Rounding::odd;

/// Counts the zero bits above the leading one; 64 for zero. nvcc compiles std::countl_zero of 64
/// bits for the device without complaint, to something else.
WARPFOLD_HD inline int leading_zeros(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(value));
#else
  return std::countl_zero(value);
#endif
}

/// Counts the zero bits below the lowest one, of a number other than zero.
WARPFOLD_HD inline int trailing_zeros(std::uint32_t value) {
  return 31 - leading_zeros(std::uint64_t{value & (0u - value)} << 32);
}

/// Rounds a positive real number to a double, once: also into the subnormals, and beyond the
/// largest one to infinity (nearest) or to it (odd).
///
/// The number lies in [significand, significand + 1) * 2^(exponent - 63), where `significand` has
/// its top bit set (so `exponent` is that of the leading bit) and `sticky` says whether it is
/// greater than the lower end.
WARPFOLD_HD inline double round_to_double(std::uint64_t significand, int exponent, bool sticky,
                                          Rounding rounding = Rounding::nearest) {
  using Limits = std::numeric_limits<double>;
  constexpr int smallest_exponent = -1074;
  const bool to_odd = rounding == Rounding::odd;
  if (exponent > 1023) return to_odd ? Limits::max() : Limits::infinity();
  if (exponent < smallest_exponent - 1) return to_odd ? Limits::denorm_min() : 0.0;
  const int lowest_kept = exponent - 52 > smallest_exponent ? exponent - 52 : smallest_exponent;
  const int dropped = lowest_kept - (exponent - 63);
  const std::uint64_t kept = dropped < 64 ? significand >> dropped : 0;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rest = dropped < 64 ? significand & ((half << 1) - 1) : significand;
  const bool nearer = rest > half || (rest == half && (sticky || (kept & 1) != 0));
  const bool up = to_odd ? (kept & 1) == 0 && (rest != 0 || sticky) : nearer;
  // A carry out of the significand steps the exponent field by itself, up to infinity.
  const auto exponent_field = static_cast<std::uint64_t>(lowest_kept - smallest_exponent);
  return std::bit_cast<double>((exponent_field << 52) + kept + (up ? 1 : 0));
}

/// Rounds an integer to a double.
WARPFOLD_HD inline double rounded_integer(int128 value, Rounding rounding) {
  const bool negative = value < 0;
  const uint128 magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  if (magnitude == 0) return 0.0;
  const auto upper = static_cast<std::uint64_t>(magnitude >> 64);
  const auto lower = static_cast<std::uint64_t>(magnitude);
  const int zeros = upper != 0 ? leading_zeros(upper) : 64 + leading_zeros(lower);
  const uint128 aligned = magnitude << zeros;
  const double rounded = round_to_double(static_cast<std::uint64_t>(aligned >> 64), 127 - zeros,
                                         static_cast<std::uint64_t>(aligned) != 0, rounding);
  return negative ? -rounded : rounded;
}

/// Rounds a double to an output element of floats; NaN becomes the canonical one.
template <class Out>
WARPFOLD_HD Out output_element(double value) {
  if constexpr (std::is_same_v<Out, double>)
    return value == value ? value : std::numeric_limits<double>::quiet_NaN();
  else if constexpr (std::is_same_v<Out, float>)
    return value == value ? static_cast<float>(value) : std::numeric_limits<float>::quiet_NaN();
  else
    return Out::from_double(value);
}

/// Returns whether an output element can hold `value`: any float can.
template <class Out>
WARPFOLD_HD bool can_hold(int128 value) {
  if constexpr (std::is_integral_v<Out>) {
    return value >= static_cast<int128>(std::numeric_limits<Out>::min()) &&
           value <= static_cast<int128>(std::numeric_limits<Out>::max());
  } else {
    return true;
  }
}

/// Makes an integer an output element: modulo 2^width, or the nearest float, ties to even.
template <class Out>
WARPFOLD_HD Out output_element(int128 value) {
  if constexpr (std::is_integral_v<Out>)
    return static_cast<Out>(value);
  else
    return output_element<Out>(rounded_integer(value, rounding_towards<Out>));
}

}  // namespace warpfold
