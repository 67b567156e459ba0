#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// Rounds a positive real number to the nearest double, ties to even, once: also into the
/// subnormals and to infinity.
///
/// The number lies in [significand, significand + 1) * 2^(exponent - 63), where `significand` has
/// its top bit set (so `exponent` is that of the leading bit) and `sticky` says whether it is
/// greater than the lower end.
WARPFOLD_HD inline double round_to_double(std::uint64_t significand, int exponent, bool sticky) {
  constexpr int smallest_exponent = -1074;
  if (exponent > 1023) return std::numeric_limits<double>::infinity();
  if (exponent < smallest_exponent - 1) return 0.0;
  const int lowest_kept = exponent - 52 > smallest_exponent ? exponent - 52 : smallest_exponent;
  const int dropped = lowest_kept - (exponent - 63);
  const std::uint64_t kept = dropped < 64 ? significand >> dropped : 0;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rest = dropped < 64 ? significand & ((half << 1) - 1) : significand;
  const bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
  // A carry out of the significand steps the exponent field by itself, up to infinity.
  const auto exponent_field = static_cast<std::uint64_t>(lowest_kept - smallest_exponent);
  return std::bit_cast<double>((exponent_field << 52) + kept + (up ? 1 : 0));
}

}  // namespace warpfold
