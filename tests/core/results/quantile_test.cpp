#include "core/results/quantile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace warpfold {
namespace {

using Method = QuantileMethod;

void expect_neighbours(double fraction, Method method, std::uint64_t count, std::uint64_t lower,
                       std::uint64_t upper, double weight) {
  const QuantileNeighbours found = quantile_neighbours(fraction, method, count);
  EXPECT_EQ(std::tuple(found.lower, found.upper, found.weight), std::tuple(lower, upper, weight))
      << fraction << " of " << count;
}

TEST(QuantileNeighbours, BetweenTwoElements) {
  expect_neighbours(0.25, Method::linear, 4, 0, 1, 0.75);
  expect_neighbours(0.25, Method::lower, 4, 0, 0, 0);
  expect_neighbours(0.25, Method::higher, 4, 1, 1, 0);
  expect_neighbours(0.25, Method::midpoint, 4, 0, 1, 0.5);
  expect_neighbours(0.25, Method::nearest, 4, 1, 1, 0);
}

TEST(QuantileNeighbours, AtAnElement) {
  for (const Method method :
       {Method::linear, Method::lower, Method::higher, Method::midpoint, Method::nearest}) {
    expect_neighbours(0.5, method, 5, 2, 2, 0);
    expect_neighbours(0, method, 5, 0, 0, 0);
    expect_neighbours(1, method, 5, 4, 4, 0);
    expect_neighbours(0.3, method, 1, 0, 0, 0);
  }
}

TEST(QuantileNeighbours, OfEquallyNearElementsTheEvenOne) {
  expect_neighbours(0.5, Method::nearest, 4, 2, 2, 0);
  expect_neighbours(0.5, Method::nearest, 6, 2, 2, 0);
}

TEST(QuantileNeighbours, OfMoreElementsThanDoublesTellApart) {
  const std::uint64_t count = (std::uint64_t{1} << 54) - 1;
  expect_neighbours(1, Method::higher, count, count - 1, count - 1, 0);
  expect_neighbours(1, Method::linear, count + 1, count, count, 0);
}

void expect_between(const Value& lower, const Value& upper, double weight, const Value& expected) {
  EXPECT_EQ(quantile_between(lower, upper, weight), expected);
}

// As numpy.quantile([0.1, 0.7], q) has it.
TEST(QuantileBetween, InterpolatesAsNumpy) {
  expect_between(0.1, 0.7, 0.3, 0.28);
  expect_between(0.1, 0.7, 0.5, 0.39999999999999997);
  expect_between(0.1, 0.7, 0.9, 0.64);
  expect_between(int128{1}, int128{4}, 0.5, 2.5);
}

TEST(QuantileBetween, ElementsStayAsTheyAre) {
  const int128 beyond_doubles = (int128{1} << 53) + 1;
  expect_between(beyond_doubles, beyond_doubles + 2, 0, beyond_doubles);
  expect_between(beyond_doubles, beyond_doubles, 0.5, beyond_doubles);
}

TEST(QuantileBetween, IntegersAreSubtractedExactly) {
  const int128 least = std::numeric_limits<std::int64_t>::min();
  const int128 greatest = std::numeric_limits<std::int64_t>::max();
  expect_between(least, greatest, 0.25, -0x1p62);
}

TEST(QuantileBetween, InfinitiesAndHugeDistances) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  expect_between(1.0, infinity, 0.25, infinity);
  expect_between(-infinity, 1.0, 0.75, -infinity);
  expect_between(infinity, infinity, 0.75, infinity);
  expect_between(-1.5e308, 1.5e308, 0.5, 0.0);
  EXPECT_TRUE(std::isnan(std::get<double>(quantile_between(-infinity, infinity, 0.5))));
}

TEST(QuantileName, IsTheShortest) {
  EXPECT_EQ(quantile_name(0.5), "median");
  EXPECT_EQ(quantile_name(0), "q00");
  EXPECT_EQ(quantile_name(1), "q1.0");
  for (int percent = 1; percent < 100; ++percent) {
    if (percent == 50) continue;
    const std::string digits = std::to_string(100 + percent).substr(1);
    EXPECT_EQ(quantile_name(std::stod("0." + digits)), "q" + digits);
  }
  EXPECT_EQ(quantile_name(0.999), "q0.999");
  EXPECT_EQ(quantile_name(0.00001), "q0.00001");
  EXPECT_EQ(quantile_name(0.9999999999999999), "q0.9999999999999999");
  EXPECT_EQ(quantile_name(5e-324).size(), 3 + 324);
}

}  // namespace
}  // namespace warpfold
