#include "core/scan/line_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

TEST(LineSum, RoundsEveryPrefixOfAnyElements) {
  std::mt19937_64 random(1);
  for (const int orders : {0, 20, 100, 500, 1020}) {
    LineSum line;
    ExactSum exact{};
    for (int i = 0; i < 500; ++i) {
      const double mantissa = std::uniform_real_distribution<double>(-2.0, 2.0)(random);
      const double element =
          std::ldexp(mantissa, std::uniform_int_distribution<int>(-orders, orders)(random));
      line.add(element);
      exact.add(element);
      exact.normalize();
      ASSERT_EQ(line.rounded<double>(), exact.rounded());
      ASSERT_EQ(line.rounded<float>(), static_cast<float>(exact.rounded(Rounding::odd)));
    }
  }
}

TEST(LineSum, TakesWhatIsNotFinite) {
  LineSum line;
  line.add(1.0);
  line.add(infinity);
  EXPECT_EQ(line.rounded<float>(), infinity);
  line.add(-1e308);
  EXPECT_EQ(line.rounded<double>(), infinity);
  line.add(-infinity);
  EXPECT_TRUE(std::isnan(line.rounded<double>()));
  EXPECT_TRUE(std::isnan(LineSum(Expansion{}, true, false, false).rounded<float>()));
  EXPECT_EQ(LineSum(Expansion{}, false, false, true).rounded<double>(), -infinity);
}

TEST(LineSum, GoesOnFromAnExactSum) {
  const double sums[][3] = {
      {}, {1.0, 0x1p-60, -0x1p-1074}, {0x1p1023, 1.0, 0x1p-900}, {-3.0, 0.5, 0x1p-200}};
  for (const auto& terms : sums) {
    ExactSum exact{};
    for (const double term : terms) exact.add(term);
    exact.normalize();
    LineSum line(exact, false, false, false);
    for (const double term : terms) {
      ASSERT_EQ(line.rounded<double>(), exact.rounded());
      ASSERT_EQ(line.rounded<float>(), static_cast<float>(exact.rounded(Rounding::odd)));
      line.add(-term);
      exact.add(-term);
      exact.normalize();
    }
    EXPECT_EQ(line.rounded<double>(), 0.0);
  }
}

TEST(LineSum, GoesOnFromAnExpansion) {
  LineSum line(Expansion{{1.0, 0x1p-60, 0.0, 0.0}}, false, false, false);
  line.add(-1.0);
  EXPECT_EQ(line.rounded<double>(), 0x1p-60);
}

}  // namespace
}  // namespace warpfold
