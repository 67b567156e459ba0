#pragma once

#include <cstdint>
#include <optional>

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

/// Round likewise where the denominator is any but zero.
double rounded_quotient(const BigNatural& numerator, const BigNatural& denominator, int exponent,
                        Rounding rounding);
double rounded_sqrt_quotient(const BigNatural& numerator, const BigNatural& denominator,
                             int exponent, Rounding rounding);

/// Rounds sum / divisor once; returns nothing where doubles are too few to tell, as for subnormal
/// results. The divisor is positive.
std::optional<double> rounded_quotient(const Expansion& sum, const Expansion& divisor,
                                       Rounding rounding);
std::optional<double> rounded_quotient(const Expansion& sum, std::uint64_t divisor,
                                       Rounding rounding);

}  // namespace warpfold
