#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "cuda/exact_scan/superaccumulator_kernels.hpp"
#include "cuda/support/gpu_test.hpp"

namespace warpfold::cuda {
namespace {

using test::Term;
using Digits = std::array<std::uint32_t, test::digits>;

constexpr int bits = 32 * test::digits;

/// Adds 2^bit, or subtracts it.
void add_power(Digits& sum, int bit, bool negative) {
  std::uint64_t unit = std::uint64_t{1} << bit % 32;
  for (auto i = static_cast<std::size_t>(bit / 32); i < sum.size() && unit != 0; ++i) {
    const std::uint64_t after = negative ? sum[i] - unit : sum[i] + unit;
    sum[i] = static_cast<std::uint32_t>(after);
    unit = after >> 32 != 0 ? 1 : 0;
  }
}

Digits sum_of_terms(const std::vector<Term>& terms, Digits sum = {}) {
  for (const auto& [units, exponent] : terms) {
    const auto magnitude =
        units < 0 ? 0 - static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
    for (int i = 0; i < 64; ++i)
      if ((magnitude >> i & 1) != 0) add_power(sum, exponent - test::least_unit + i, units < 0);
  }
  return sum;
}

int bit_length(Digits number) {
  if (number.back() >> 31 != 0) {
    for (std::uint32_t& each : number) each = ~each;
    add_power(number, 0, false);
  }
  int length = bits;
  while (length > 0 &&
         (number[static_cast<std::size_t>((length - 1) / 32)] >> (length - 1) % 32 & 1) == 0)
    --length;
  return length;
}

std::vector<Term> random_terms(std::mt19937_64& random, int lowest, int highest) {
  std::vector<Term> terms;
  for (std::uint64_t i = random() % 20; i < 20; ++i) {
    const auto units = static_cast<std::int64_t>(random()) >> random() % 64;
    const auto exponent = static_cast<int>(random() % static_cast<unsigned>(highest - 63 - lowest) +
                                           static_cast<unsigned>(lowest));
    terms.push_back({units, exponent});
  }
  return terms;
}

class SuperaccumulatorTest : public GpuTest {};

TEST_F(SuperaccumulatorTest, SumsPropagateCarries) {
  const std::int64_t most = INT64_MAX;
  const std::int64_t least = INT64_MIN;
  std::vector<std::vector<Term>> sums = {
      {{0, 0}},
      {{1, test::least_unit}, {-1, test::least_unit}},
      {{1, 960}, {-1, test::least_unit}},
      {{-1, 960}, {1, test::least_unit}},
      {{-1, test::least_unit}, {1, test::least_unit}, {1, test::least_unit}},
      {{most, 900}, {most, 900}, {least, 900}, {least, test::least_unit}},
      {{least, 17}, {least, 17}, {1, 81}},
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) sums.push_back(random_terms(random, test::least_unit, 1000));
  for (const auto& terms : sums) {
    const Digits expected = sum_of_terms(terms);
    const test::FullWidthSum sum = test::sum_at_full_width(terms);
    EXPECT_EQ(sum.digit, expected);
    const int length = bit_length(expected);
    EXPECT_EQ(sum.any, length != 0);
    if (length == 0) continue;
    EXPECT_LE(test::least_unit + length, sum.exponent + 1);
    EXPECT_GE(test::least_unit + length, sum.exponent - 1);
  }
}

TEST_F(SuperaccumulatorTest, WindowsTakeSumsApart) {
  constexpr int slices = 5;
  constexpr int least_top = -844;
  std::mt19937_64 random(2);
  for (int top = least_top; top < 1000; top += 92) {
    const auto terms = random_terms(random, test::least_unit, top - 8);
    const test::TakenSum taken = test::taken_by_window(terms, top);
    EXPECT_EQ(sum_of_terms(taken.slices, taken.rest), sum_of_terms(terms)) << top;
    ASSERT_EQ(taken.slices.size(), slices);
    for (int i = 1; i < slices; ++i) {
      const auto [units, exponent] = taken.slices[static_cast<std::size_t>(i)];
      EXPECT_TRUE(units >= 0 && units < std::int64_t{1} << 44) << top;
      EXPECT_EQ(exponent, top - 51 - 44 * i);
    }
    EXPECT_EQ(taken.rest.back(), 0u);
    EXPECT_LE(test::least_unit + bit_length(taken.rest), taken.slices.back().exponent);
  }
}

TEST_F(SuperaccumulatorTest, SignedHalfDigitsAddUp) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 50; ++i) {
    std::array<std::int32_t, 2 * test::digits> half_digits{};
    std::vector<Term> terms;
    for (std::size_t k = 0; k < half_digits.size(); ++k) {
      const auto digit = static_cast<std::int32_t>(random());
      half_digits[k] = i == 0 ? INT32_MAX : i == 1 ? -INT32_MAX : digit >> random() % 31;
      terms.push_back({half_digits[k], test::least_unit + 16 * static_cast<int>(k)});
    }
    const Digits less = sum_of_terms(random_terms(random, test::least_unit, 1000));
    for (std::size_t k = 0; k < less.size(); ++k)
      terms.push_back({-std::int64_t{less[k]}, test::least_unit + 32 * static_cast<int>(k)});
    EXPECT_EQ(test::difference(half_digits, less), sum_of_terms(terms));
  }
}

TEST_F(SuperaccumulatorTest, UnitsOfAWindowAddUp) {
  std::mt19937_64 random(3);
  for (int top = -800; top < 1000; top += 92) {
    const auto terms = random_terms(random, top - 51 - 4 * 44, top - 8);
    const std::vector<Term> sum = test::sum_in_window(terms, top);
    EXPECT_EQ(sum_of_terms(sum), sum_of_terms(terms)) << top;
    for (std::size_t i = 1; i < sum.size(); ++i)
      EXPECT_TRUE(sum[i].units >= 0 && sum[i].units < std::int64_t{1} << 44) << top;
  }
}

}  // namespace
}  // namespace warpfold::cuda
