#include "core/results/weighted_sums.hpp"

#include "core/numeric/big_natural.hpp"
#include "core/numeric/exact_rounding.hpp"
#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

constexpr int weight_bits = 32 * ExactSum::low_limbs;
constexpr int product_bits = 32 * ExactSumOfSquares::low_limbs;

/// Returns sum / divisor * 2^exponent.
double signed_quotient(const ExactSumOfSquares& sum, const BigNatural& divisor, int exponent,
                       Rounding rounding) {
  ExactSumOfSquares magnitude = sum;
  if (sum.negative()) magnitude.negate();
  const double quotient = rounded_quotient(BigNatural(magnitude), divisor, exponent, rounding);
  return sum.negative() ? -quotient : quotient;
}

/// The variance is numerator / denominator / 2^product_bits.
struct Variance {
  BigNatural numerator;
  BigNatural denominator;
};

Variance variance_of(const WeightedSums& sums) {
  ExactSumOfSquares magnitude = sums.products;
  if (magnitude.negative()) magnitude.negate();
  const BigNatural products(magnitude);
  const BigNatural weights(sums.weights);
  return {weights * BigNatural(sums.squares) - products * products, weights * weights};
}

// Both products of the numerator have as many bits below the point.
static_assert(weight_bits + 32 * ExactSumOfWeightedSquares::low_limbs == 2 * product_bits);

}  // namespace

double weighted_mean(const WeightedSums& sums, Rounding rounding) {
  const BigNatural weights(sums.weights);
  if (weights.bit_length() == 0) return quiet_nan;
  return signed_quotient(sums.products, weights, weight_bits - product_bits, rounding);
}

double weighted_variance(const WeightedSums& sums, Rounding rounding) {
  const auto [numerator, denominator] = variance_of(sums);
  if (denominator.bit_length() == 0) return quiet_nan;
  return rounded_quotient(numerator, denominator, -product_bits, rounding);
}

double weighted_deviation(const WeightedSums& sums, Rounding rounding) {
  const auto [numerator, denominator] = variance_of(sums);
  if (denominator.bit_length() == 0) return quiet_nan;
  return rounded_sqrt_quotient(numerator, denominator, -product_bits, rounding);
}

double mean_of_products(const ExactSumOfSquares& sum, std::uint64_t count, Rounding rounding) {
  return signed_quotient(sum, BigNatural(count), -product_bits, rounding);
}

}  // namespace warpfold
