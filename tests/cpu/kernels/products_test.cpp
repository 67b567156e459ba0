#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/values/factors.hpp"
#include "core/values/left_out_mark.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/inexact_flag.hpp"

namespace warpfold::cpu {
namespace {

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

/// A matrix of integers and their factors, multiples of 2^-10.
template <class T>
struct Products {
  Products(std::size_t r, std::size_t c, bool row, std::mt19937_64& random)
      : rows(r), columns(c), of_row(row), x(r * stride(c)), factors(r * stride(c) + 8, 1.0) {
    for (T& value : x)
      value = static_cast<T>(static_cast<std::int64_t>(random() % (1 << 25)) - (1 << 24));
    for (double& factor : factors)
      factor = std::ldexp(static_cast<double>(random() % (std::uint64_t{1} << 40) + 1), -10);
  }

  static std::size_t stride(std::size_t columns) { return columns + 3; }

  int128 sum(std::size_t row, std::size_t column) const {
    const std::size_t at = row * stride(columns) + column;
    const double factor = factors[of_row ? row * stride(columns) : at];
    return int128{static_cast<std::int64_t>(x[at])} *
           static_cast<std::int64_t>(std::ldexp(factor, 10));
  }

  std::vector<int128> sums(bool in_lines) const {
    std::vector<int128> all(in_lines ? rows : columns);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) all[in_lines ? r : c] += sum(r, c);
    return all;
  }

  bool call(ProductSums<T> kernel, std::vector<double>& into, bool flag_tells = false) const {
    into.assign(max_levels * column_tile, 0.0);
    clear_inexact();
    return kernel(x.data(), rows, stride(columns), columns,
                  {factors.data(), static_cast<std::ptrdiff_t>(stride(columns))}, into.data()) &&
           !(flag_tells && inexact_raised());
  }

  std::size_t rows;
  std::size_t columns;
  bool of_row;
  std::vector<T> x;
  std::vector<double> factors;
};

template <class T>
void check_sums(const Products<T>& products, const ProductSums<T> (&kernels)[max_levels],
                bool in_lines, bool flag_tells) {
  const std::vector<int128> expected = products.sums(in_lines);
  for (int levels = 2; levels <= max_levels; ++levels) {
    std::vector<double> sums;
    ASSERT_TRUE(products.call(kernels[levels - 1], sums, flag_tells));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      int128 total = 0;
      for (int level = 0; level < levels; ++level)
        total += static_cast<int128>(
            std::ldexp(sums[static_cast<std::size_t>(level) * column_tile + i], 10));
      EXPECT_TRUE(total == expected[i]) << "of " << i << " by " << levels << " levels";
    }
  }
}

template <class T>
void check_unusual(Products<T> products, const ProductSums<T> (&kernels)[max_levels]) {
  const std::size_t last = Products<T>::stride(products.columns) * (products.rows - 1) +
                           (products.of_row ? 0 : products.columns - 1);
  std::vector<double> sums;
  const double factor = products.factors[last];
  for (const double unusual :
       {0.0, left_out_mark<double>, quiet_nan, infinity, 0x1p401, 0x1p-401}) {
    products.factors[last] = unusual;
    for (const ProductSums<T> kernel : kernels) EXPECT_FALSE(products.call(kernel, sums));
  }
  products.factors[last] = factor;
  for (const T unusual : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN(), left_out_mark<T>}) {
    products.x[last] = unusual;
    for (const ProductSums<T> kernel : kernels) EXPECT_FALSE(products.call(kernel, sums));
  }
}

template <class T>
void check_shapes(const Kernels& all, std::mt19937_64& random) {
  const FloatKernels<T>& kernels = kernels_of<T>(all);
  for (std::size_t rows = 1; rows < 24; ++rows) {
    for (std::size_t columns = 1; columns < 40; columns += 3) {
      for (const bool of_row : {false, true}) {
        const Products<T> products(rows, columns, of_row, random);
        check_sums(products, kernels.column_products[of_row ? 1 : 0], false, all.plain_behind);
        check_unusual(products, kernels.column_products[of_row ? 1 : 0]);
      }
      const Products<T> products(rows, columns, false, random);
      check_sums(products, kernels.line_products, true, all.plain_behind);
      check_unusual(products, kernels.line_products);
    }
  }
}

TEST(ProductSumKernels, SumsAreThoseOfIntegers) {
  std::mt19937_64 random(2);
  for (const Kernels* kernels : available_kernels()) {
    SCOPED_TRACE(kernels->name);
    check_shapes<float>(*kernels, random);
    check_shapes<double>(*kernels, random);
  }
}

}  // namespace
}  // namespace warpfold::cpu
