#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/numeric/big_natural.hpp"
#include "core/numeric/expansion.hpp"
#include "core/numeric/rounding.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {

/// Rounds numerator / denominator * 2^exponent once to a double; also into the subnormals and to
/// infinity. The denominator lies in [1, 2^127].
double rounded_quotient(const BigNatural& numerator, uint128 denominator, int exponent,
                        Rounding rounding = Rounding::nearest);

/// Rounds the square root of numerator / denominator * 2^exponent once in the same way.
double rounded_sqrt_quotient(const BigNatural& numerator, uint128 denominator, int exponent,
                             Rounding rounding = Rounding::nearest);

/// Round once as above, for any denominator but zero.
double rounded_quotient(const BigNatural& numerator, const BigNatural& denominator, int exponent,
                        Rounding rounding);
double rounded_sqrt_quotient(const BigNatural& numerator, const BigNatural& denominator,
                             int exponent, Rounding rounding);

/// Dividends have this magnitude at least: below it, products of a quotient might lose bits to
/// underflow.
inline constexpr double min_dividend = 0x1p-800;
inline constexpr std::uint64_t largest_divisor = std::uint64_t{1} << 53;

inline bool is_quotient(double value) {
  const double size = std::fabs(value);
  return size >= 0x1p-900 && size <= 0x1p900;
}

/// Returns the double nearest to sum / divisor if rounding it to Out rounds the quotient itself;
/// nothing if one division does not tell. The divisor is positive.
template <class Out>
std::optional<double> simple_quotient(const Expansion& sum, std::uint64_t divisor) {
  // A number halfway between two of a shorter format has 25 bits at most, and is a double if
  // multiplied by such a divisor. A sum that is another double is so far from that one that its
  // quotient does not round to the halfway number.
  constexpr std::uint64_t largest =
      std::is_same_v<Out, double> ? largest_divisor : std::uint64_t{1} << 28;
  const double quotient = sum.part[0] / static_cast<double>(divisor);
  const bool one_double = (sum.part[1] == 0.0) & (sum.part[2] == 0.0) & (sum.part[3] == 0.0);
  if (!one_double || std::fabs(sum.part[0]) < min_dividend || !is_quotient(quotient) ||
      divisor > largest)
    return std::nullopt;
  return quotient;
}

/// Rounds sum / divisor once; returns nothing where doubles are too few to tell, as for subnormal
/// results. The divisor is positive.
std::optional<double> rounded_quotient(const Expansion& sum, const Expansion& divisor,
                                       Rounding rounding);
std::optional<double> rounded_quotient(const Expansion& sum, std::uint64_t divisor,
                                       Rounding rounding);

}  // namespace warpfold
