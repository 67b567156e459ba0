#include "warpfold/core/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace warpfold {
namespace {

constexpr std::uint64_t top = std::uint64_t{1} << 63;
constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(RoundToDouble, ExactValues) {
  EXPECT_EQ(round_to_double(top, 0, false), 1.0);
  EXPECT_EQ(round_to_double(top | top >> 1, 1, false), 3.0);
  EXPECT_EQ(round_to_double(all << 11, 1023, false), std::numeric_limits<double>::max());
  EXPECT_EQ(round_to_double(top, -1022, false), 0x1p-1022);
  EXPECT_EQ(round_to_double(top, -1074, false), 0x1p-1074);
}

TEST(RoundToDouble, TiesGoToEvenUnlessSticky) {
  const std::uint64_t half = 1u << 10;
  const std::uint64_t ulp = 1u << 11;
  EXPECT_EQ(round_to_double(top | half, 0, false), 1.0);
  EXPECT_EQ(round_to_double(top | half, 0, true), 1.0 + 0x1p-52);
  EXPECT_EQ(round_to_double(top | (half + 1), 0, false), 1.0 + 0x1p-52);
  EXPECT_EQ(round_to_double(top | (half - 1), 0, true), 1.0);
  EXPECT_EQ(round_to_double(top | ulp | half, 0, false), 1.0 + 0x1p-51);
}

TEST(RoundToDouble, CarriesIntoTheExponent) {
  EXPECT_EQ(round_to_double(all, 0, false), 2.0);
  EXPECT_EQ(round_to_double(all, -1023, false), 0x1p-1022);
  EXPECT_EQ(round_to_double(all, 1023, false), infinity);
}

TEST(RoundToDouble, BeyondTheRangeIsInfinite) {
  EXPECT_EQ(round_to_double(top, 1024, false), infinity);
  EXPECT_EQ(round_to_double(top, 5000, true), infinity);
  const std::uint64_t largest = all << 11;
  EXPECT_EQ(round_to_double(largest | 0x3ff, 1023, true), std::numeric_limits<double>::max());
  EXPECT_EQ(round_to_double(largest | 0x400, 1023, false), infinity);
}

TEST(RoundToDouble, AroundHalfTheLeastSubnormal) {
  EXPECT_EQ(round_to_double(top, -1075, false), 0.0);
  EXPECT_EQ(round_to_double(top, -1075, true), 0x1p-1074);
  EXPECT_EQ(round_to_double(top | 1, -1075, false), 0x1p-1074);
  EXPECT_EQ(round_to_double(all, -1076, true), 0.0);
  EXPECT_EQ(round_to_double(top | top >> 1, -1074, false), 0x1p-1073);
}

TEST(RoundToDouble, AgreesWithTheHardwareOnEveryExponent) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  std::mt19937_64 random(1);
  for (int exponent = -1080; exponent <= 1026; ++exponent)
    for (int trial = 0; trial < 50; ++trial) {
      std::uint64_t significand = random() | top;
      if (trial % 2 != 0) significand &= all << (random() % 64) | top;
      const long double exact = std::ldexp(static_cast<long double>(significand), exponent - 63);
      ASSERT_EQ(round_to_double(significand, exponent, false), static_cast<double>(exact))
          << significand << ' ' << exponent;
    }
}

}  // namespace
}  // namespace warpfold
