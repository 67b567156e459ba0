#pragma once

namespace warpfold {

/// Returns the absolute value of a complex number, sqrt(real^2 + imaginary^2), rounded once:
/// infinite where one of its parts is, otherwise NaN where one is.
double rounded_modulus(double real, double imaginary);

}  // namespace warpfold
