#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/values/factors.hpp"
#include "core/values/left_out_mark.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// Numbers of all sizes, and what is none.
template <class T>
std::vector<T> values_of(std::size_t n, std::mt19937_64& random) {
  const std::vector<T> special{T(0),
                               -T(0),
                               std::numeric_limits<T>::quiet_NaN(),
                               -std::numeric_limits<T>::quiet_NaN(),
                               left_out_mark<T>,
                               std::numeric_limits<T>::infinity(),
                               -std::numeric_limits<T>::infinity(),
                               std::numeric_limits<T>::denorm_min(),
                               std::numeric_limits<T>::max(),
                               std::numeric_limits<T>::lowest()};
  std::uniform_real_distribution<double> exponent(-60, 60);
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(random() % 4 == 0
                         ? special[random() % special.size()]
                         : static_cast<T>(std::exp2(exponent(random)) * (random() % 2 ? 1 : -1)));
  return values;
}

std::vector<double> factors_of(std::size_t n, bool weights, std::mt19937_64& random) {
  const std::vector<double> special{
      0.0, left_out_mark<double>, 5e-324, 0x1p1023, 0x1p990, 0x1p991, quiet_nan, infinity};
  std::vector<double> factors;
  for (std::size_t i = 0; i < n; ++i)
    factors.push_back(random() % 4 == 0 ? special[random() % (special.size() - (weights ? 2 : 0))]
                                        : std::ldexp(static_cast<double>(random() % 1000 + 1), -5));
  factors.resize(n + 8);
  return factors;
}

bool exact_as_two(double a, double b) {
  const double size = std::fabs(a * b);
  return std::fabs(a) <= largest_factor && std::fabs(b) <= largest_factor &&
         size <= largest_product && (size >= least_product || a == 0 || b == 0);
}

template <class T>
void check(const Kernels& kernels, std::size_t n, Multiplying how, std::mt19937_64& random) {
  const std::vector<T> x = values_of<T>(n, random);
  const std::vector<double> before = factors_of(n, how.by_weights, random);
  std::vector<double> factors = before;
  std::vector<double> high(n + 8);
  std::vector<double> low(n + 8);
  const ProductKinds kinds =
      kernels_of<T>(kernels).multiply(x.data(), n, how, {high.data(), low.data(), factors.data()});
  bool inexact = false;
  bool rest = false;
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(x[i]);
    const double factor = before[i];
    const bool left_out = (how.marked && is_left_out_mark(x[i])) || is_left_out_mark(factor) ||
                          (how.by_weights && factor == 0);
    if (left_out) {
      EXPECT_EQ(bits(high[i]), bits(left_out_mark<double>));
      EXPECT_EQ(low[i], 0);
      EXPECT_EQ(factors[i], 0);
      continue;
    }
    const double product = value * factor;
    if (std::isnan(value)) {
      EXPECT_EQ(factors[i], 0);
    }
    if (!std::isfinite(value) || !std::isfinite(factor)) {
      EXPECT_EQ(bits(high[i]), bits(std::isnan(product) ? quiet_nan : product));
      EXPECT_EQ(low[i], 0);
      continue;
    }
    EXPECT_EQ(bits(factors[i]), bits(factor));
    if (!exact_as_two(value, factor)) {
      inexact = true;
      continue;
    }
    EXPECT_EQ(bits(high[i]), bits(product));
    EXPECT_EQ(low[i], std::fma(value, factor, -product));
    rest = rest || low[i] != 0;
  }
  EXPECT_EQ(kinds.inexact, inexact);
  if (!inexact) {
    EXPECT_EQ(kinds.rest, rest);
  }
}

TEST(MultiplyKernels, TermsAreTheScalarOnes) {
  std::mt19937_64 random(1);
  for (const Kernels* kernels : available_kernels()) {
    SCOPED_TRACE(kernels->name);
    for (std::size_t n = 1; n < 70; ++n) {
      for (const bool marked : {false, true}) {
        for (const bool by_weights : {false, true}) {
          check<float>(*kernels, n, {marked, by_weights}, random);
          check<double>(*kernels, n, {marked, by_weights}, random);
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpfold::cpu
