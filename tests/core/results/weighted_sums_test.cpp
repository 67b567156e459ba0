#include "core/results/weighted_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

struct WeightedCase {
  std::vector<double> elements;
  std::vector<double> weights;
  double mean;
  double variance;
  double deviation;
  double mean_of_products;
};

const WeightedCase weighted_cases[] = {
#include "core/results/weighted_cases.inc"
};

/// Adds the square of an element, as two doubles, times a weight.
void add_weighted_square(ExactSumOfWeightedSquares& sum, double element, double weight) {
  const double square = element * element;
  sum.add_product(square, weight);
  sum.add_product(std::fma(element, element, -square), weight);
}

WeightedSums sums_of(const WeightedCase& data) {
  WeightedSums sums{};
  for (std::size_t i = 0; i < data.elements.size(); ++i) {
    sums.weights.add(data.weights[i]);
    sums.products.add_product(data.elements[i], data.weights[i]);
    add_weighted_square(sums.squares, data.elements[i], data.weights[i]);
  }
  sums.weights.normalize();
  sums.products.normalize();
  sums.squares.normalize();
  return sums;
}

void expect_equal(double found, double expected, std::size_t number) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(found)) << "case " << number;
  else
    EXPECT_EQ(found, expected) << "case " << number;
}

TEST(WeightedSums, AgreeWithFractions) {
  for (std::size_t i = 0; i < std::size(weighted_cases); ++i) {
    const WeightedCase& data = weighted_cases[i];
    const WeightedSums sums = sums_of(data);
    expect_equal(weighted_mean(sums, Rounding::nearest), data.mean, i);
    expect_equal(weighted_variance(sums, Rounding::nearest), data.variance, i);
    expect_equal(weighted_deviation(sums, Rounding::nearest), data.deviation, i);
    expect_equal(mean_of_products(sums.products, data.elements.size(), Rounding::nearest),
                 data.mean_of_products, i);
  }
}

TEST(WeightedSums, RoundToOddForNarrowerTypes) {
  WeightedSums sums{};
  sums.weights.add(5.0);
  sums.products.add_product(1.0, 1.0);
  EXPECT_EQ(weighted_mean(sums, Rounding::nearest), 0x1.999999999999ap-3);
  EXPECT_EQ(weighted_mean(sums, Rounding::odd), 0x1.9999999999999p-3);
  sums.weights.add(2.0);
  EXPECT_EQ(weighted_mean(sums, Rounding::nearest), 0x1.2492492492492p-3);
  EXPECT_EQ(weighted_mean(sums, Rounding::odd), 0x1.2492492492493p-3);
}

}  // namespace
}  // namespace warpfold
