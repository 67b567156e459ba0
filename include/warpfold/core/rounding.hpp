#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// How a number between two doubles becomes one of them: the nearest, ties to even, or the one
/// whose last bit is set, which may be rounded once more, to any format of at most 51 bits, as if
/// the number itself were.
enum class Rounding : std::uint8_t { nearest, odd };

/// How a number becomes a double on its way to the floating-point type Out.
template <class Out>
inline constexpr Rounding rounding_towards =
    std::is_same_v<Out, double> ? Rounding::nearest : Rounding::odd;

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

}  // namespace warpfold
