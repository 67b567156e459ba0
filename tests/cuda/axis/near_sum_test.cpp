#include "cuda/axis/near_sum.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/numeric/fixed_point.hpp"

namespace warpfold::cuda::kernels {
namespace {

template <class Sum>
std::vector<std::int64_t> normal_limbs(Sum sum) {
  sum.normalize();
  return {std::begin(sum.limb), std::end(sum.limb)};
}

/// Returns what a near sum is, from numbers that it is split into.
template <class Exact, class Near>
Exact split_sum(const Near& near, const NearWindow& window) {
  Exact sum{};
  near.addend(window.unit()).split([&](double part) {
    EXPECT_NE(part, 0.0);
    sum.add(part);
    sum.normalize();
  });
  return sum;
}

std::uint64_t pattern(double value) { return std::bit_cast<std::uint64_t>(value); }

class NearSums : public ::testing::TestWithParam<bool> {
 protected:
  bool squares() const { return GetParam(); }

  /// A double of full width, of that exponent and either sign.
  double sized(int exponent) {
    const double size =
        std::ldexp(static_cast<double>((random_() >> 12) | std::uint64_t{1} << 52), exponent - 52);
    return random_() % 2 == 0 ? size : -size;
  }

  /// Adds what the window covers to a sum and squares; compares after each addition.
  void expect_exact(const NearWindow& window, const std::vector<double>& elements,
                    const std::string& what) {
    NearSum sum;
    NearSquares sum_of_squares;
    ExactSum expected{};
    ExactSumOfSquares expected_squares{};
    for (const double element : elements) {
      if (!window.covers(pattern(element))) continue;
      const NearNumber number = window.number(pattern(element));
      sum.add(number);
      expected.add(element);
      expected.normalize();
      for (const Rounding rounding : {Rounding::nearest, Rounding::odd})
        ASSERT_EQ(pattern(sum.rounded(rounding, window.unit())),
                  pattern(expected.rounded(rounding)))
            << what;
      if (!squares()) continue;
      sum_of_squares.add(number);
      expected_squares.add_square(element);
      expected_squares.normalize();
    }
    ASSERT_EQ(normal_limbs(split_sum<ExactSum>(sum, window)), normal_limbs(expected)) << what;
    ASSERT_EQ(normal_limbs(split_sum<ExactSumOfSquares>(sum_of_squares, window)),
              normal_limbs(expected_squares))
        << what;
    ColumnSum wide{};
    ASSERT_TRUE(wide.add(sum.addend(window.unit()))) << what;
    ASSERT_EQ(normal_limbs(wide.exact()), normal_limbs(expected)) << what;
  }

  std::mt19937_64 random_{11};
};

TEST_P(NearSums, HoldWhatTheirWindowCovers) {
  for (int exponent = -1074; exponent < 1024; exponent += exponent % 3 == 0 ? 1 : 2) {
    NearWindow window(200, squares());
    EXPECT_FALSE(window.is_placed());
    EXPECT_FALSE(window.covers(pattern(1.0)));
    const double first = exponent < -1022 ? std::ldexp(1.0, exponent) : sized(exponent);
    window.move_to(pattern(first));
    EXPECT_TRUE(window.is_placed());
    const bool inner = squares() ? exponent >= -430 && exponent <= 430 : std::abs(exponent) <= 900;
    if (inner) {
      EXPECT_TRUE(window.covers(pattern(first))) << exponent;
    }
    std::vector<double> elements{first};
    for (int i = 0; i < 199; ++i) {
      const int other = exponent - 100 + i;
      elements.push_back(other > 1023 || other < -1022 ? 1.0 : sized(other));
    }
    expect_exact(window, elements, "about 2^" + std::to_string(exponent));
  }
}

TEST_P(NearSums, CoverNormalNumbersAlone) {
  using Limits = std::numeric_limits<double>;
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    NearWindow window(8, squares());
    window.move_to(pattern(std::ldexp(1.0, exponent)));
    for (const double other :
         {0.0, -0.0, Limits::denorm_min(), -Limits::denorm_min(), std::ldexp(1.0, -1023),
          Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN()})
      EXPECT_FALSE(window.covers(pattern(other))) << exponent;
  }
}

/// As many additions as were announced, of the largest and smallest numbers that are covered.
TEST_P(NearSums, HaveRoomForAllCarries) {
  for (const std::uint64_t additions : {1u, 2u, 3u, 255u, 256u, 5000u}) {
    for (const int exponent : {-1000, -300, 0, 37, 700, 1000}) {
      NearWindow window(additions, squares());
      window.move_to(pattern(std::ldexp(1.0, exponent)));
      int last = -1022;
      int first = 1023;
      for (int other = -1022; other < 1024; ++other) {
        if (!window.covers(pattern(std::ldexp(1.0, other)))) continue;
        first = std::min(first, other);
        last = std::max(last, other);
      }
      ASSERT_GE(last - first, squares() ? 25 : 55);
      const double largest = std::ldexp(0x1.fffffffffffffp+0, last);
      const double least = std::ldexp(0x1.0000000000001p+0, first);
      for (const double sign : {1.0, -1.0}) {
        std::vector<double> elements(additions, sign * largest);
        expect_exact(window, elements, "largest");
        for (std::size_t i = 1; i < elements.size(); i += 2) elements[i] = -sign * least;
        expect_exact(window, elements, "both ends");
        for (std::size_t i = 1; i < elements.size(); i += 2) elements[i] = -sign * largest;
        expect_exact(window, elements, "cancelling");
      }
    }
  }
}

TEST_P(NearSums, SpanLessWhereMoreIsAdded) {
  for (const int bits : {10, 20, 32, 40}) {
    NearWindow window(std::uint64_t{1} << bits, squares());
    window.move_to(pattern(1.0));
    NearSum sum;
    NearSquares sum_of_squares;
    int last = 0;
    while (window.covers(pattern(std::ldexp(1.0, last + 1)))) ++last;
    const NearNumber largest = window.number(pattern(std::ldexp(0x1.fffffffffffffp+0, last)));
    sum.add(largest);
    sum_of_squares.add(largest);
    EXPECT_LT(sum.units << bits, uint128{1} << 126);
    EXPECT_EQ(sum.units << bits >> bits, sum.units);
    if (squares()) {
      EXPECT_EQ(std::uint64_t{sum_of_squares.word[5]} << bits >> 31, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, NearSums, ::testing::Bool());

TEST(NearSum, RoundsTies) {
  NearWindow window(16, false);
  window.move_to(pattern(1.0));
  NearSum sum;
  ExactSum expected{};
  for (const double element : {0x1p+20, 0x1p-33, -0x1p-33, 0x1p-32, 0x1p-33, 0x1p-38, -0x1p-38,
                               -0x1p+21, -0x1p-33, 0x1p+20, -0x1p-33, 0x1p-35, -0x1p-35, 0x1p-33,
                               0x1p-33, 0x1p-33, -0x1p-32, 0x1p-33, -0x1p-33}) {
    ASSERT_TRUE(window.covers(pattern(element)));
    sum.add(window.number(pattern(element)));
    expected.add(element);
    expected.normalize();
    for (const Rounding rounding : {Rounding::nearest, Rounding::odd})
      EXPECT_EQ(pattern(sum.rounded(rounding, window.unit())), pattern(expected.rounded(rounding)));
  }
}

TEST(NearSum, TakesWhatASumHas) {
  std::mt19937_64 random{3};
  const auto any = [&](int least, int range) {
    const int exponent = least + static_cast<int>(random() % static_cast<unsigned>(range));
    return std::ldexp(std::uniform_real_distribution<double>(-1.0, 1.0)(random), exponent);
  };
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    ColumnSum sum{};
    const int least = i % 2 == 0 ? -40 : static_cast<int>(random() % 1700) - 900;
    const int range = 1 + i % 90;
    for (int k = i % 4; k > 0; --k)
      ASSERT_TRUE(sum.add(addend_of(scaled_integer(any(least, range)), 53)));
    const ExactSum expected = sum.exact();
    const double next = any(least, range);
    NearWindow window(64, false);
    NearSum near;
    const bool whole = i % 5 == 0;
    if (!(whole ? near.take(sum, window) : near.take(sum, window, pattern(next)))) {
      EXPECT_FALSE(window.is_placed());
      EXPECT_EQ(normal_limbs(sum.exact()), normal_limbs(expected));
      continue;
    }
    ++taken;
    EXPECT_TRUE(sum.is_zero());
    ASSERT_EQ(normal_limbs(split_sum<ExactSum>(near, window)), normal_limbs(expected));
    ASSERT_EQ(pattern(near.rounded(Rounding::nearest, window.unit())), pattern(expected.rounded()));
    if (whole) continue;
    ASSERT_TRUE(window.covers(pattern(next)));
  }
  EXPECT_GT(taken, 15000);
}

}  // namespace
}  // namespace warpfold::cuda::kernels
