#include "cuda/axis/sum_window.hpp"

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

using Doubles = std::vector<double>;

template <class Sum>
std::vector<std::int64_t> limbs_of(Sum sum) {
  sum.normalize();
  return {std::begin(sum.limb), std::end(sum.limb)};
}

/// A sum in a window, and what that had no room for.
template <class Window, class Exact>
struct SpillingSum {
  void spill(double number) {
    EXPECT_NE(number, 0.0);
    ++spills;
    spilled.add(number);
    spilled.normalize();
  }

  auto spilling() {
    return [this](double part) { spill(part); };
  }

  void settle() { window.settle(spilling()); }

  void merge(const SpillingSum& other) {
    window.merge(other.window, spilling());
    spilled.add(other.spilled);
    spills += other.spills;
    settle();
  }

  /// Returns the sum of the parts of the expansion, and of all spills.
  Exact total() {
    Exact all = spilled;
    const Expansion parts = window.expansion([&](double part) {
      ++spills;
      all.add(part);
    });
    for (const double part : parts.part) all.add(part);
    return all;
  }

  Window window{};
  Exact spilled{};
  int spills = 0;
};

/// Sums of columns as kernels make them: of elements, and of their squares.
struct Columns {
  void add(double element) {
    const ScaledInteger number = scaled_integer(element);
    if (!sum.window.add(addend_of(number, 53))) sum.spill(element);
    if (squares.window.add(product_of(number, number, 106))) return;
    ++squares.spills;
    squares.spilled.add_square(element);
    squares.spilled.normalize();
  }

  void merge(const Columns& other) {
    sum.merge(other.sum);
    squares.merge(other.squares);
  }

  void settle() {
    sum.settle();
    squares.settle();
  }

  SpillingSum<ColumnSum, ExactSum> sum;
  SpillingSum<ColumnSquares, ExactSumOfSquares> squares;
};

/// Adds the elements to several columns in turns, merges these, and compares with exact sums.
Columns expect_exact(const Doubles& elements, const std::string& what, std::size_t columns = 3) {
  std::vector<Columns> each(columns);
  ExactSum expected{};
  ExactSumOfSquares expected_squares{};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    each[i % columns].add(elements[i]);
    if (i % 100 == 99) each[i % columns].settle();
    expected.add(elements[i]);
    expected_squares.add_square(elements[i]);
  }
  for (Columns& column : each) column.settle();
  for (std::size_t i = 1; i < columns; ++i) each[0].merge(each[i]);
  EXPECT_EQ(limbs_of(each[0].sum.total()), limbs_of(expected)) << what;
  EXPECT_EQ(limbs_of(each[0].squares.total()), limbs_of(expected_squares)) << what;
  return each[0];
}

class SumWindow : public ::testing::Test {
 protected:
  /// In (-1, 1).
  double unit() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random_); }

  double any_finite() {
    for (;;)
      if (const auto value = std::bit_cast<double>(random_()); std::isfinite(value)) return value;
  }

  template <class Make>
  Doubles many(const Make& make, int count = 3000) {
    Doubles elements;
    for (int i = 0; i < count; ++i) elements.push_back(make(i));
    return elements;
  }

  std::mt19937_64 random_{5};
};

TEST_F(SumWindow, FollowsElementsOfAnySize) {
  constexpr double largest = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  expect_exact(many([&](int) { return any_finite(); }), "any");
  expect_exact(many([](int i) { return std::ldexp(1.1, i - 1070); }, 2090), "climbing");
  expect_exact(many([](int i) { return std::ldexp(-1.1, 1019 - i); }, 2090), "falling");
  expect_exact(many([&](int i) { return std::ldexp(unit(), 33 * (i % 60) - 1000); }), "saw");
  expect_exact(many([&](int i) { return i % 2 == 0 ? largest : -largest; }), "largest");
  expect_exact(many([&](int) { return largest; }), "largest of one sign");
  expect_exact(many([&](int i) { return (i % 3 - 1) * least; }), "least");
  expect_exact(many([](int i) { return i % 2 == 0 ? 0.0 : -0.0; }), "zeros");
  expect_exact(many([](int i) { return i % 3 == 0   ? 1e300
                                       : i % 3 == 1 ? -1e300
                                                    : 1e-300; }),
               "between cancelled ones", 1);
  expect_exact(many([](int i) { return std::ldexp(i % 2 == 0 ? 1.0 : -1.0, 100 * (i / 2 % 9)); }),
               "cancelled to zero", 1);
  for (const int exponent : {-1074, -1057, -1024, -545, -480, 485, 960, 969, 970, 1023})
    expect_exact(many([&](int i) { return std::ldexp(i % 2 == 0 ? 1.0 : -0.75, exponent); }),
                 "at 2^" + std::to_string(exponent));
}

TEST_F(SumWindow, HoldsUsualElements) {
  const auto wide = [&](int) { return std::ldexp(unit(), -static_cast<int>(random_() % 60u)); };
  const auto filled = [&](int) { return random_() % 10 == 0 ? 1e37 : unit(); };
  const auto expect_no_spills = [&](const Doubles& elements, const std::string& what,
                                    bool squares = true) {
    const Columns columns = expect_exact(elements, what);
    EXPECT_EQ(columns.sum.spills, 0) << what;
    if (squares) {
      EXPECT_EQ(columns.squares.spills, 0) << what;
    }
  };
  expect_no_spills(many([&](int) { return unit(); }), "uniform");
  expect_no_spills(many([&](int) { return 1e15 * unit(); }), "large");
  expect_no_spills(many([&](int i) { return i + 0.25; }), "with an offset");
  expect_no_spills(many(wide), "wide", false);
  expect_no_spills(many(filled), "filled", false);
}

TEST_F(SumWindow, TakesProducts) {
  std::vector<ColumnSquares> sums(2);
  ExactSumOfWeightedSquares expected{};
  ExactSumOfWeightedSquares all{};
  const auto spill = [&](double part) { all.add(part); };
  for (int i = 0; i < 4000; ++i) {
    const double x = i % 7 == 0 ? any_finite() : std::ldexp(unit(), i % 50);
    const double y = i % 11 == 0 ? any_finite() : unit();
    const ScaledInteger a = scaled_integer(x);
    const ScaledInteger b = scaled_integer(y);
    ExactSumOfWeightedSquares term{};
    ExactSumOfSquares square{};
    square.add_square(x);
    square.normalize();
    const bool weighted = i % 2 == 0;
    if (weighted)
      term.add_product(square, y);
    else
      term.add_product(x, y);
    term.normalize();
    expected.add(term);
    ColumnSquares& sum = sums[static_cast<std::size_t>(i % 3 == 0)];
    const bool taken = weighted
                           ? sum.add(product_of(product_of(a, a, 106), b, 53).with_sign(b.negative))
                           : sum.add(product_of(a, b, 106).with_sign(a.negative != b.negative));
    if (!taken) all.add(term);
    expected.normalize();
    all.normalize();
  }
  sums[0].merge(sums[1], spill);
  sums[0].settle(spill);
  for (const double part : sums[0].expansion(spill).part) all.add(part);
  EXPECT_EQ(limbs_of(all), limbs_of(expected));
}

TEST_F(SumWindow, RoundsEachPrefix) {
  const auto expect_rounded = [](const Doubles& elements, const std::string& what) {
    ColumnSum sum{};
    ExactSum expected{};
    for (const double element : elements) {
      ASSERT_TRUE(sum.add(addend_of(scaled_integer(element), 53))) << what;
      expected.add(element);
      expected.normalize();
      for (const Rounding rounding : {Rounding::nearest, Rounding::odd})
        ASSERT_EQ(std::bit_cast<std::uint64_t>(sum.rounded(rounding)),
                  std::bit_cast<std::uint64_t>(expected.rounded(rounding)))
            << what;
      ASSERT_EQ(limbs_of(sum.exact()), limbs_of(expected)) << what;
    }
  };
  expect_rounded(many([&](int) { return unit(); }), "uniform");
  expect_rounded({0x1p53, 1.0, 1.0, -0x1p-60, 0x1p-60, -0x1p53, -2.0, -0.0, 0.0}, "ties");
  expect_rounded({0x1p-1074, 0x1p-1074, -0x1p-1022, 0x1p-1073, -0x1p-1074}, "subnormal");
  expect_rounded({0x1p900, 0x1p847, 0x1p846, -0x1p900, -0x1p847, -0x1p847, 0x1p700}, "large");
  expect_rounded({1.0, -1.0, 0x1p-900, -0x1p-900, 0x1p900, -0x1p900, 3.0}, "cancelled");
}

/// A sum far below the other one leaves in at most as many numbers as it has words.
TEST_F(SumWindow, SpillsFewNumbersWhenMerged) {
  for (const double low : {-0x1p-1000, 0x1p-1000, -0x1.8p-940})
    for (const double high : {0x1.23456789abcdep+900, -0x1p+900}) {
      Columns one;
      Columns other;
      for (int i = 0; i < 224; ++i) {
        one.add(std::ldexp(low, -(i % 100)));
        other.add(std::ldexp(high, -i));
      }
      one.settle();
      other.settle();
      for (Columns merged : {one, other}) {
        const Columns& with = merged.sum.window.unit() == one.sum.window.unit() ? other : one;
        merged.merge(with);
        const int of_merge = merged.sum.spills - one.sum.spills - other.sum.spills;
        EXPECT_GT(of_merge, 0);
        EXPECT_LE(of_merge, ColumnSum::words);
      }
    }
}

/// Carries of 2^40 addends, of which 2^24 at once are as many as one word takes.
TEST_F(SumWindow, SettlesCarries) {
  Columns columns;
  ExactSum expected{};
  columns.add(0x1.8p+0);
  columns.add(std::ldexp(0x1.fffffffffffffp+0, 127));
  expected.add(0x1.8p+0);
  expected.add(std::ldexp(0x1.fffffffffffffp+0, 127));
  for (int i = 0; i < 40; ++i) {
    columns.merge(Columns(columns));
    expected.add(expected);
    expected.normalize();
  }
  EXPECT_EQ(limbs_of(columns.sum.total()), limbs_of(expected));
  EXPECT_GT(columns.sum.spills, 0);
}

TEST_F(SumWindow, IsAnIntegerToo) {
  ColumnSquares sum{};
  sum.set(Addend<6>{{~1u, ~0u, ~0u, ~0u, ~0u, ~0u}, ~0u, 0, 191});
  const auto none = [](double) { ADD_FAILURE(); };
  EXPECT_EQ(sum.expansion(none).part[0], -2.0);
  const Addend<6> large{{1, 2, 3, 4, 5, 0x60000000}, 0, 0, 191};
  sum.set(large);
  ExactSum expected{};
  for (int i = 5; i >= 0; --i) expected.add(std::ldexp(large.word[i], 32 * i));
  ExactSum parts{};
  for (const double part : sum.expansion(none).part) parts.add(part);
  EXPECT_EQ(limbs_of(parts), limbs_of(expected));
}

TEST_F(SumWindow, TellsWhereItsBitsAre) {
  for (int i = 0; i < 2000; ++i) {
    ColumnSum sum{};
    const double first = std::ldexp(unit(), i % 90 - 400);
    const double second = i % 5 == 0 ? 0.0 : std::ldexp(unit(), i % 70 - 380);
    ASSERT_TRUE(sum.add(addend_of(scaled_integer(first), 53)));
    ASSERT_TRUE(sum.add(addend_of(scaled_integer(second), 53)));
    ExactSum expected{};
    expected.add(first);
    expected.add(second);
    expected.normalize();
    ASSERT_EQ(sum.least_bit(), expected.least_bit());
    const int end = sum.end();
    const double size = std::abs(expected.rounded());
    ASSERT_LE(size, std::ldexp(1.0, end));
    ASSERT_GE(size, std::ldexp(1.0, end - 1));
    for (int from = end - 200; from < end + 40; from += 7) {
      const int place = from + 32 * ExactSum::low_limbs;
      const auto limb = [&](int at) { return static_cast<std::uint32_t>(expected.limb[at]); };
      const std::uint64_t digits = std::uint64_t{limb(place / 32 + 1)} << 32 | limb(place / 32);
      ASSERT_EQ(sum.word_at(from), static_cast<std::uint32_t>(digits >> place % 32));
    }
  }
}

}  // namespace
}  // namespace warpfold::cuda::kernels
