#include "core/numeric/modulus.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/big_natural.hpp"
#include "core/numeric/double_pair.hpp"
#include "core/numeric/exact_rounding.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

BigNatural shifted_square(const ScaledInteger& number, int exponent) {
  const BigNatural magnitude(number.magnitude);
  return (magnitude * magnitude) << (2 * (number.exponent - exponent));
}

double exact_modulus(double real, double imaginary) {
  const ScaledInteger one = scaled_integer(real);
  const ScaledInteger other = scaled_integer(imaginary);
  const int exponent = std::min(one.exponent, other.exponent);
  return rounded_sqrt_quotient(shifted_square(one, exponent) + shifted_square(other, exponent), 1,
                               2 * exponent);
}

DoublePair square(double value) {
  const double high = value * value;
  return {high, std::fma(value, value, -high)};
}

}  // namespace

// The root is computed to about 100 bits, which nearly always decide how it is rounded.
double rounded_modulus(double real, double imaginary) {
  const double most = std::max(std::fabs(real), std::fabs(imaginary));
  if (std::isinf(real) || std::isinf(imaginary)) return infinity;
  if (std::isnan(real) || std::isnan(imaginary)) return real + imaginary;
  if (!(most > 0x1p-400 && most < 0x1p500)) return exact_modulus(real, imaginary);
  const DoublePair one = square(real);
  const DoublePair other = square(imaginary);
  const DoublePair sum = two_sum(one.high, other.high);
  const double root = std::sqrt(sum.high);
  const double rest =
      (std::fma(-root, root, sum.high) + (sum.low + (one.low + other.low))) / (2 * root);
  const double error = root * 0x1p-90;
  const double modulus = root + (rest - error);
  return modulus == root + (rest + error) ? modulus : exact_modulus(real, imaginary);
}

}  // namespace warpfold
