#include "core/numeric/double_pair.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <random>

#include "core/numeric/fixed_point.hpp"

namespace warpfold {
namespace {

constexpr int trials = 20'000;

ExactSum sum_of(std::initializer_list<double> terms) {
  ExactSum sum{};
  for (const double term : terms) sum.add(term);
  sum.normalize();
  return sum;
}

bool is_zero(const ExactSum& sum) {
  for (const std::int64_t limb : sum.limb)
    if (limb != 0) return false;
  return true;
}

class DoublePairTest : public ::testing::Test {
 protected:
  double any_double() {
    const double mantissa = std::uniform_real_distribution<double>(-2.0, 2.0)(random_);
    return std::ldexp(mantissa, std::uniform_int_distribution<int>(-80, 80)(random_));
  }

  std::mt19937_64 random_{7};
};

TEST_F(DoublePairTest, TwoSumIsExact) {
  for (int trial = 0; trial < trials; ++trial) {
    const double a = any_double();
    const double b = any_double();
    const DoublePair sum = two_sum(a, b);
    ASSERT_TRUE(is_zero(sum_of({a, b, -sum.high, -sum.low}))) << a << ' ' << b;
    ASSERT_EQ(sum.high, sum_of({a, b}).rounded()) << a << ' ' << b;
  }
}

TEST(DoublePair, KnownSums) {
  const DoublePair tie = two_sum(0x1p53, 1.0);
  EXPECT_EQ(tie.high, 0x1p53);
  EXPECT_EQ(tie.low, 1.0);
  const DoublePair tiny = two_sum(0x1p-1074, 0x1p1000);
  EXPECT_EQ(tiny.high, 0x1p1000);
  EXPECT_EQ(tiny.low, 0x1p-1074);
}

}  // namespace
}  // namespace warpfold
