#include "core/numeric/fixed_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double minimum = std::numeric_limits<double>::denorm_min();

ExactSum exact_sum(std::initializer_list<double> terms) {
  ExactSum sum{};
  for (const double term : terms) sum.add(term);
  return sum;
}

double rounded_sum(std::initializer_list<double> terms) { return exact_sum(terms).rounded(); }

int least_bit_of(std::initializer_list<double> terms) {
  ExactSum sum = exact_sum(terms);
  sum.normalize();
  return sum.least_bit();
}

double rounded_squares(std::initializer_list<double> roots) {
  ExactSumOfSquares squares{};
  for (const double root : roots) squares.add_square(root);
  return squares.rounded();
}

template <int Low, int High>
std::vector<std::int64_t> limbs_of(const FixedPoint<Low, High>& number) {
  return {std::begin(number.limb), std::end(number.limb)};
}

TEST(ScaledInteger, TakesDoublesApart) {
  const ScaledInteger one = scaled_integer(1.0);
  EXPECT_EQ(one.magnitude, std::uint64_t{1} << 52);
  EXPECT_EQ(one.exponent, -52);
  EXPECT_FALSE(one.negative);
  const ScaledInteger subnormal = scaled_integer(-3 * minimum);
  EXPECT_EQ(subnormal.magnitude, 3u);
  EXPECT_EQ(subnormal.exponent, -1074);
  EXPECT_TRUE(subnormal.negative);
  EXPECT_EQ(scaled_integer(largest).magnitude, (std::uint64_t{1} << 53) - 1);
  EXPECT_EQ(scaled_integer(largest).exponent, 971);
}

TEST(ExactSum, EveryExponentRoundTrips) {
  std::mt19937_64 random(2);
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    const double mantissa = std::uniform_real_distribution<double>(1.0, 2.0)(random);
    for (const double value : {std::ldexp(1.0, exponent), std::ldexp(mantissa, exponent)}) {
      ASSERT_EQ(rounded_sum({value}), value);
      ASSERT_EQ(rounded_sum({-value}), -value);
    }
  }
  EXPECT_EQ(rounded_sum({largest}), largest);
}

TEST(ExactSum, CancellationLeavesWhatIsLeft) {
  EXPECT_EQ(rounded_sum({1e308, 1.0, -1e308}), 1.0);
  EXPECT_EQ(rounded_sum({largest, minimum, -largest}), minimum);
  EXPECT_EQ(rounded_sum({largest, -minimum, -largest}), -minimum);
  EXPECT_EQ(rounded_sum({1e16, 1.0, 1.0, -1e16}), 2.0);
  EXPECT_EQ(rounded_sum({largest, largest, 1.0, -largest, -largest}), 1.0);
}

TEST(ExactSum, ZeroIsPositive) {
  for (const double zero : {rounded_sum({}), rounded_sum({-0.0}), rounded_sum({1.5, -1.5})}) {
    EXPECT_EQ(zero, 0.0);
    EXPECT_FALSE(std::signbit(zero));
  }
}

TEST(ExactSum, RoundsToNearestWithTiesToEven) {
  EXPECT_EQ(rounded_sum({0x1p53, 1.0}), 0x1p53);
  EXPECT_EQ(rounded_sum({0x1p53, 1.0, minimum}), 0x1p53 + 2);
  EXPECT_EQ(rounded_sum({0x1p53, 1.0, -minimum}), 0x1p53);
  EXPECT_EQ(rounded_sum({0x1p53, 3.0}), 0x1p53 + 4);
  EXPECT_EQ(rounded_sum({0x1p53, 3.0, -minimum}), 0x1p53 + 2);
  EXPECT_EQ(rounded_sum({-0x1p53, -1.0}), -0x1p53);
  EXPECT_EQ(rounded_sum({-0x1p53, -1.0, -minimum}), -0x1p53 - 2);
  EXPECT_EQ(rounded_sum({-0x1p53, -1.0, minimum}), -0x1p53);
}

TEST(ExactSum, SubnormalsAreExact) {
  EXPECT_EQ(rounded_sum({minimum, minimum}), 2 * minimum);
  EXPECT_EQ(rounded_sum({0x1p-1022, -minimum}), 0x1p-1022 - minimum);
  EXPECT_EQ(rounded_sum({0x1p-1023, 0x1p-1023}), 0x1p-1022);
}

TEST(ExactSum, OverflowsToInfinityOnlyWhenRounded) {
  const double half_ulp = 0x1p970;
  EXPECT_EQ(rounded_sum({largest, largest}), infinity);
  EXPECT_EQ(rounded_sum({-largest, -largest}), -infinity);
  EXPECT_EQ(rounded_sum({largest, half_ulp}), infinity);
  EXPECT_EQ(rounded_sum({largest, half_ulp, -minimum}), largest);
}

TEST(ExactSum, KnowsItsLeastBit) {
  EXPECT_EQ(least_bit_of({}), ExactSum::no_bit);
  EXPECT_EQ(least_bit_of({1.0}), 0);
  EXPECT_EQ(least_bit_of({-6.0, 0x1p900}), 1);
  EXPECT_EQ(least_bit_of({0x1p31, 0x1p31}), 32);
  EXPECT_EQ(least_bit_of({largest, minimum}), -1074);
  EXPECT_EQ(least_bit_of({minimum, 0x1p-60, -minimum}), -60);
}

TEST(ExactSum, AddsIntegers) {
  const auto min_i64 = int128{std::numeric_limits<std::int64_t>::min()};
  const auto max_u64 = int128{std::numeric_limits<std::uint64_t>::max()};
  ExactSum sum{};
  sum.add(min_i64);
  EXPECT_EQ(sum.rounded(), -0x1p63);
  sum.add(max_u64);
  EXPECT_EQ(sum.rounded(), 0x1p63);
  sum.add(-(int128{1} << 63) + 1);
  EXPECT_EQ(sum.rounded(), 0.0);
  sum.add(int128{1} << 100);
  sum.add(int128{-1});
  sum.add(-(int128{1} << 100));
  EXPECT_EQ(sum.rounded(), -1.0);
}

TEST(ExactSum, RoundedPairKeepsTheRest) {
  const DoublePair positive = exact_sum({1.0, 0x1p-60}).rounded_pair();
  EXPECT_EQ(positive.high, 1.0);
  EXPECT_EQ(positive.low, 0x1p-60);
  const DoublePair tie = exact_sum({0x1p53, 3.0}).rounded_pair();
  EXPECT_EQ(tie.high, 0x1p53 + 4);
  EXPECT_EQ(tie.low, -1.0);
  const DoublePair twice_rounded = exact_sum({-0x1p110, -0x1p53, -1.0}).rounded_pair();
  EXPECT_EQ(twice_rounded.high, -0x1p110);
  EXPECT_EQ(twice_rounded.low, -0x1p53);
  const DoublePair zero = exact_sum({}).rounded_pair();
  EXPECT_EQ(zero.high, 0.0);
  EXPECT_EQ(zero.low, 0.0);
}

TEST(ExactSum, NegationIsExact) {
  ExactSum sum = exact_sum({1e300, 1.0, -minimum});
  sum.normalize();
  const std::vector<std::int64_t> original = limbs_of(sum);
  EXPECT_FALSE(sum.negative());
  sum.negate();
  EXPECT_TRUE(sum.negative());
  EXPECT_EQ(sum.rounded(), -1e300);
  sum.negate();
  EXPECT_EQ(limbs_of(sum), original);
}

TEST(ExactSumOfSquares, SquaresAreNeitherRoundedNorUnderflown) {
  EXPECT_EQ(rounded_squares({3.0, 4.0}), 25.0);
  EXPECT_EQ(rounded_squares({-3.0}), 9.0);
  EXPECT_EQ(rounded_squares({0x1p-537}), minimum);
  EXPECT_EQ(rounded_squares({minimum, 1.0}), 1.0);
  EXPECT_EQ(rounded_squares({largest}), infinity);
  EXPECT_EQ(rounded_squares({1.0 + 0x1p-52}), 1.0 + 0x1p-51);
  ExactSumOfSquares squares{};
  squares.add_square(minimum);
  EXPECT_EQ(squares.rounded(), 0.0);
  EXPECT_EQ(squares.least_bit(), -2148);
  squares.add_square(0x1p512);
  EXPECT_EQ(squares.least_bit(), -2148);
}

TEST(ExactSumOfSquares, SquaresKeepEveryBit) {
  ExactSumOfSquares squares{};
  const double root = 1.0 + 0x1p-52;
  squares.add_square(root);
  const DoublePair pair = squares.rounded_pair();
  EXPECT_EQ(pair.high, 1.0 + 0x1p-51);
  EXPECT_EQ(pair.low, 0x1p-104);
}

TEST(ExactSumOfSquares, AddsIntegers) {
  ExactSumOfSquares squares{};
  squares.add(uint128{1} << 127, 0);
  squares.add(uint128{3}, 0);
  EXPECT_EQ(squares.rounded_pair().high, 0x1p127);
  EXPECT_EQ(squares.rounded_pair().low, 3.0);
}

/// Returns the most that the largest double of an exponent adds to its limbs; squares the same.
template <class Number>
std::int64_t largest_change(int exponent, void (Number::*add)(double)) {
  Number number{};
  (number.*add)(std::ldexp(2.0 - 0x1p-52, exponent));
  return *std::max_element(std::begin(number.limb), std::end(number.limb));
}

TEST(FixedPoint, OneAdditionChangesALimbByTheDocumentedBoundAtMost) {
  constexpr std::int64_t digit = std::int64_t{1} << 32;
  for (int exponent = -1022; exponent <= 1023; ++exponent) {
    ASSERT_LT(largest_change<ExactSum>(exponent, &ExactSum::add), digit);
    ASSERT_LT(largest_change<ExactSumOfSquares>(exponent, &ExactSumOfSquares::add_square),
              digit / 2 * 3);
  }
}

/// The most a limb holds after 2^30 additions to a normalized number.
constexpr std::int64_t fullest_limb =
    (std::int64_t{1} << 32) - 1 + (std::int64_t{3} << 31) * (std::int64_t{1} << 30);

/// The digits of limbs that are all fullest_limb, by unsigned arithmetic of twice the width.
std::vector<std::int64_t> digits_of_full_limbs(int limbs) {
  std::vector<std::int64_t> digits;
  uint128 carried = 0;
  for (int i = 0; i < limbs; ++i) {
    carried += static_cast<uint128>(fullest_limb);
    const bool is_top = i == limbs - 1;
    digits.push_back(static_cast<std::int64_t>(is_top ? carried : carried & 0xffffffffu));
    carried >>= 32;
  }
  return digits;
}

template <class Number>
void expect_full_limbs_to_normalize() {
  Number number{};
  std::fill(std::begin(number.limb), std::end(number.limb), fullest_limb);
  number.normalize();
  const std::vector<std::int64_t> expected = digits_of_full_limbs(Number::limbs);
  EXPECT_EQ(limbs_of(number), expected);

  Number opposite{};
  std::fill(std::begin(opposite.limb), std::end(opposite.limb), -fullest_limb);
  opposite.normalize();
  for (int i = 0; i < Number::limbs - 1; ++i) {
    ASSERT_GE(opposite.limb[i], 0);
    ASSERT_LT(opposite.limb[i], std::int64_t{1} << 32);
  }
  EXPECT_TRUE(opposite.negative());
  number.add(opposite);
  number.normalize();
  EXPECT_EQ(limbs_of(number), std::vector<std::int64_t>(Number::limbs, 0));
}

TEST(FixedPoint, LimbsAtTheDocumentedBoundNormalizeWithoutOverflow) {
  expect_full_limbs_to_normalize<ExactSum>();
  expect_full_limbs_to_normalize<ExactSumOfSquares>();
}

TEST(FixedPoint, NormalizationKeepsTheValue) {
  ExactSum sum{};
  for (int i = 0; i < 1000; ++i) {
    sum.add(i % 2 == 0 ? largest : -largest);
    sum.add(-minimum);
    if (i % 7 == 0) sum.normalize();
  }
  EXPECT_EQ(sum.rounded(), -1000 * minimum);
}

class OrderTest : public ::testing::Test {
 protected:
  std::vector<double> wide_values(std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) {
      const double mantissa = std::uniform_real_distribution<double>(-2.0, 2.0)(random_);
      value = std::ldexp(mantissa, std::uniform_int_distribution<int>(-1074, 1022)(random_));
    }
    return values;
  }

  /// Reduces runs of random lengths and merges them, normalizing now and then.
  template <class Number, class Add>
  std::vector<std::int64_t> merged_limbs(const std::vector<double>& values, Add add) {
    Number total{};
    for (std::size_t next = 0; next < values.size();) {
      const std::size_t end = std::min(values.size(), next + 1 + random_() % 97);
      Number part{};
      for (; next < end; ++next) add(part, values[next]);
      part.normalize();
      total.add(part);
      if (random_() % 2 == 0) total.normalize();
    }
    total.normalize();
    return limbs_of(total);
  }

  std::mt19937_64 random_{3};
};

TEST_F(OrderTest, SumsAreTheSameLimbsInAnyOrderAndPartition) {
  std::vector<double> values = wide_values(2000);
  const auto add = [](ExactSum& sum, double value) { sum.add(value); };
  const std::vector<std::int64_t> expected = merged_limbs<ExactSum>(values, add);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(values.begin(), values.end(), random_);
    ASSERT_EQ(merged_limbs<ExactSum>(values, add), expected);
  }
}

TEST_F(OrderTest, SumsOfSquaresAreTheSameLimbsInAnyOrderAndPartition) {
  std::vector<double> values = wide_values(1000);
  const auto add = [](ExactSumOfSquares& squares, double value) { squares.add_square(value); };
  const std::vector<std::int64_t> expected = merged_limbs<ExactSumOfSquares>(values, add);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(values.begin(), values.end(), random_);
    ASSERT_EQ(merged_limbs<ExactSumOfSquares>(values, add), expected);
  }
}

}  // namespace
}  // namespace warpfold
