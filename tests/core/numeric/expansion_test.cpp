#include "core/numeric/expansion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace warpfold {
namespace {

ExactSum exact(const Expansion& expansion) {
  ExactSum sum{};
  for (const double part : expansion.part) sum.add(part);
  sum.normalize();
  return sum;
}

void expect_equal(const ExactSum& a, const ExactSum& b) {
  for (int digit = 0; digit < ExactSum::limbs; ++digit) ASSERT_EQ(a.limb[digit], b.limb[digit]);
}

double any_double(std::mt19937_64& random, int orders) {
  const double mantissa = std::uniform_real_distribution<double>(-2.0, 2.0)(random);
  return std::ldexp(mantissa, std::uniform_int_distribution<int>(-orders, orders)(random));
}

TEST(Expansion, LosesNothing) {
  std::mt19937_64 random(1);
  for (const int orders : {0, 10, 60, 300, 960}) {
    Expansion sum;
    ExactSum expected{};
    ExactSum spilled{};
    for (int i = 0; i < 3000; ++i) {
      const double addend = any_double(random, orders);
      expected.add(addend);
      spilled.add(add(sum, addend));
    }
    ExactSum actual = exact(sum);
    actual.add(spilled);
    actual.normalize();
    expected.normalize();
    expect_equal(actual, expected);
  }
}

TEST(Expansion, HasRoomForOrdinaryNumbers) {
  std::mt19937_64 random(2);
  Expansion sum;
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(add(sum, any_double(random, 20)), 0.0);
}

TEST(Expansion, NormalizedFallsInMagnitude) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    Expansion sum;
    const int orders = 1 << (i % 9);
    for (double& part : sum.part)
      part = random() % 4 == 0 ? 0.0 : std::ldexp(1.0, static_cast<int>(random() % 60));
    if (i % 2 == 0)
      for (double& part : sum.part) part = any_double(random, orders);
    const Expansion parts = normalized(sum);
    expect_equal(exact(parts), exact(sum));
    for (int k = 0; k < 3; ++k) ASSERT_EQ(parts.part[k] + parts.part[k + 1], parts.part[k]);
    ASSERT_EQ(rounded_to<double>(sum), exact(sum).rounded());
  }
}

TEST(Expansion, RoundsToAnyFormatAsTheExactSumDoes) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20'000; ++i) {
    Expansion sum;
    const double leading = static_cast<double>(static_cast<std::int64_t>(random() % 4096) - 2048);
    add(sum, std::ldexp(leading, static_cast<int>(random() % 24) - 20));
    add(sum, std::ldexp(1.0, -static_cast<int>(random() % 100)));
    add(sum, any_double(random, 90) * 0x1p-120);
    const double odd = exact(sum).rounded(Rounding::odd);
    ASSERT_EQ(rounded_to<float>(sum), static_cast<float>(odd));
    ASSERT_EQ(rounded_to<Float16>(sum).bits, Float16::from_double(odd).bits);
    ASSERT_EQ(rounded_to<BFloat16>(sum).bits, BFloat16::from_double(odd).bits);
  }
}

TEST(Expansion, HoldsIntegersAndTheirSquares) {
  std::vector<std::int64_t> values = {0, 1, -1, std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min()};
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<std::int64_t>(random()));
  Expansion sum;
  Expansion unsigned_sum;
  Expansion squares;
  int128 expected = 0;
  int128 expected_unsigned = 0;
  ExactSum expected_squares{};
  for (const std::int64_t value : values) {
    const auto bits = static_cast<std::uint64_t>(value);
    split_integer(value, [&](double part) { EXPECT_EQ(add(sum, part), 0.0); });
    split_integer(bits, [&](double part) { EXPECT_EQ(add(unsigned_sum, part), 0.0); });
    split_square(bits, [&](double part) { EXPECT_EQ(add(squares, part), 0.0); });
    expected += value;
    expected_unsigned += bits;
    expected_squares.add(uint128{bits} * bits, 0);
    EXPECT_EQ(whole_number(sum), expected);
    EXPECT_EQ(whole_number(unsigned_sum), expected_unsigned);
  }
  expected_squares.normalize();
  expect_equal(exact(squares), expected_squares);
}

TEST(Expansion, TellsWhatItCanTake) {
  EXPECT_TRUE(is_addend(-0x1p970));
  EXPECT_FALSE(is_addend(0x1.0000000000001p970));
  EXPECT_FALSE(is_addend(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(is_addend(-std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(is_root(-0.0));
  EXPECT_TRUE(is_root(-0x1p485));
  EXPECT_FALSE(is_root(0x1p-481));
  EXPECT_FALSE(is_root(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace warpfold
