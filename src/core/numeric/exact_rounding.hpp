#pragma once

#include "core/numeric/big_natural.hpp"
#include "warpfold/core/int128.hpp"
#include "warpfold/core/rounding.hpp"

namespace warpfold {

/// numerator / denominator * 2^exponent, rounded once to a double; also into the subnormals and
/// to infinity. The denominator lies in [1, 2^127].
double rounded_quotient(const BigNatural& numerator, uint128 denominator, int exponent,
                        Rounding rounding = Rounding::nearest);

/// The square root of numerator / denominator * 2^exponent, rounded once in the same way.
double rounded_sqrt_quotient(const BigNatural& numerator, uint128 denominator, int exponent,
                             Rounding rounding = Rounding::nearest);

}  // namespace warpfold
