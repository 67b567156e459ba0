#include "core/numeric/big_natural.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace warpfold {
namespace {

constexpr std::uint64_t maximum = ~std::uint64_t{0};

std::uint64_t any_size(std::mt19937_64& random) { return random() >> (random() % 64); }

int bit_length(uint128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return 128 - (high != 0 ? std::countl_zero(high)
                          : 64 + std::countl_zero(static_cast<std::uint64_t>(value)));
}

void expect_equal(const BigNatural& natural, uint128 expected) {
  ASSERT_EQ(natural.bit_length(), bit_length(expected));
  for (int position = -1; position < 130; ++position) {
    const bool in_range = position >= 0 && position < 128;
    ASSERT_EQ(natural.bit(position), in_range && (expected >> position & 1) != 0) << position;
    const uint128 below = in_range ? expected & ((uint128{1} << position) - 1) : expected;
    ASSERT_EQ(natural.any_bit_below(position), position >= 0 && below != 0) << position;
  }
}

TEST(BigNatural, HoldsIntegers) {
  std::mt19937_64 random(6);
  expect_equal(BigNatural(0), 0);
  expect_equal(BigNatural(1), 1);
  expect_equal(BigNatural(maximum), maximum);
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint64_t value = any_size(random);
    expect_equal(BigNatural(value), value);
  }
}

TEST(BigNatural, Multiplies) {
  std::mt19937_64 random(7);
  expect_equal(BigNatural(maximum) * BigNatural(0), 0);
  expect_equal(BigNatural(0) * BigNatural(maximum), 0);
  expect_equal(BigNatural(maximum) * BigNatural(maximum), static_cast<uint128>(maximum) * maximum);
  for (int trial = 0; trial < 500; ++trial) {
    const std::uint64_t a = any_size(random);
    const std::uint64_t b = any_size(random);
    expect_equal(BigNatural(a) * BigNatural(b), static_cast<uint128>(a) * b);
  }
}

TEST(BigNatural, Subtracts) {
  std::mt19937_64 random(8);
  const BigNatural square = BigNatural(maximum) * BigNatural(maximum);
  expect_equal(square - square, 0);
  expect_equal(square - BigNatural(0), static_cast<uint128>(maximum) * maximum);
  expect_equal(BigNatural(1u << 31) * BigNatural(2) - BigNatural(1), 0xffffffffu);
  for (int trial = 0; trial < 500; ++trial) {
    const std::uint64_t a = any_size(random) | 1u << 31;
    const std::uint64_t b = any_size(random) | 1u << 31;
    const std::uint64_t c = random();
    const uint128 product = static_cast<uint128>(a) * b;
    if (product < c) continue;
    expect_equal(BigNatural(a) * BigNatural(b) - BigNatural(c), product - c);
  }
}

TEST(BigNatural, ProductsDistributeOverDifferencesOfAnySize) {
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 200; ++trial) {
    BigNatural larger(random() | 1u);
    for (int factor = 0; factor < 30; ++factor) larger = larger * BigNatural(random() | 1u);
    const BigNatural smaller(random());
    const BigNatural multiplier = BigNatural(random()) * BigNatural(random() | 1u);
    ASSERT_EQ(multiplier * (larger - smaller), multiplier * larger - multiplier * smaller);
    ASSERT_EQ(multiplier * larger, larger * multiplier);
  }
}

TEST(BigNatural, TakesTheDigitsOfFixedPointNumbers) {
  ExactSum sum{};
  EXPECT_EQ(BigNatural(sum), BigNatural(0));
  sum.add(0x1p-1074);
  sum.add(3.0);
  sum.normalize();
  const BigNatural natural(sum);
  constexpr int point = 32 * ExactSum::low_limbs;
  EXPECT_EQ(natural.bit_length(), point + 2);
  EXPECT_TRUE(natural.bit(point));
  EXPECT_TRUE(natural.bit(point - 1074));
  EXPECT_FALSE(natural.bit(point - 1));
  EXPECT_TRUE(natural.any_bit_below(point));
  EXPECT_FALSE(natural.any_bit_below(point - 1074));
}

}  // namespace
}  // namespace warpfold
