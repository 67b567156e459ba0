#include "core/numeric/rounding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "core/numeric/special_values.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/float16.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t top = std::uint64_t{1} << 63;
constexpr std::uint64_t all_ones = ~std::uint64_t{0};

TEST(RoundToDouble, ExactValues) {
  EXPECT_EQ(round_to_double(top, 0, false), 1.0);
  EXPECT_EQ(round_to_double(top | top >> 1, 1, false), 3.0);
  EXPECT_EQ(round_to_double(all_ones << 11, 1023, false), std::numeric_limits<double>::max());
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
  EXPECT_EQ(round_to_double(all_ones, 0, false), 2.0);
  EXPECT_EQ(round_to_double(all_ones, -1023, false), 0x1p-1022);
  EXPECT_EQ(round_to_double(all_ones, 1023, false), infinity);
}

TEST(RoundToDouble, BeyondTheRangeIsInfinite) {
  EXPECT_EQ(round_to_double(top, 1024, false), infinity);
  EXPECT_EQ(round_to_double(top, 5000, true), infinity);
  const std::uint64_t largest = all_ones << 11;
  EXPECT_EQ(round_to_double(largest | 0x3ff, 1023, true), std::numeric_limits<double>::max());
  EXPECT_EQ(round_to_double(largest | 0x400, 1023, false), infinity);
}

TEST(RoundToDouble, AroundHalfTheLeastSubnormal) {
  EXPECT_EQ(round_to_double(top, -1075, false), 0.0);
  EXPECT_EQ(round_to_double(top, -1075, true), 0x1p-1074);
  EXPECT_EQ(round_to_double(top | 1, -1075, false), 0x1p-1074);
  EXPECT_EQ(round_to_double(all_ones, -1076, true), 0.0);
  EXPECT_EQ(round_to_double(top | top >> 1, -1074, false), 0x1p-1073);
}

TEST(RoundToDouble, AgreesWithTheHardwareOnEveryExponent) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  std::mt19937_64 random(1);
  for (int exponent = -1080; exponent <= 1026; ++exponent)
    for (int trial = 0; trial < 50; ++trial) {
      std::uint64_t significand = random() | top;
      if (trial % 2 != 0) significand &= all_ones << (random() % 64) | top;
      const long double exact = std::ldexp(static_cast<long double>(significand), exponent - 63);
      ASSERT_EQ(round_to_double(significand, exponent, false), static_cast<double>(exact))
          << significand << ' ' << exponent;
    }
}

template <class Out>
class IntegerRounding : public ::testing::Test {};

/// Bits of a significand, and the most that an integer's exponent may be without overflow.
template <class Out>
constexpr int precision = Out::mantissa_bits + 1;
template <>
constexpr int precision<float> = 24;
template <>
constexpr int precision<double> = 53;

template <class Out>
constexpr int largest_shift = Out::bias - Out::mantissa_bits;
template <>
constexpr int largest_shift<float> = 102;
template <>
constexpr int largest_shift<double> = 73;

struct FormatNames {
  template <class Out>
  static std::string GetName(int) {
    return std::string(name_of(element_type_of<Out>()));
  }
};

using Formats = ::testing::Types<Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(IntegerRounding, Formats, FormatNames);

template <class Out>
double rounded(int128 value) {
  return widened(output_element<Out>(value));
}

TYPED_TEST(IntegerRounding, MidpointsGoToEvenAndTheirNeighboursToTheNearest) {
  const int last_shift = std::min(largest_shift<TypeParam>, 125 - precision<TypeParam>);
  const std::int64_t lowest = std::int64_t{1} << (precision<TypeParam> - 1);
  for (int shift = 1; shift <= last_shift; ++shift) {
    for (const std::int64_t significand : {lowest, lowest + 1, lowest + 6, 2 * lowest - 3}) {
      const int128 below = static_cast<int128>(significand) << shift;
      const int128 midpoint = below + (int128{1} << (shift - 1));
      const double down = std::ldexp(static_cast<double>(significand), shift);
      const double up = std::ldexp(static_cast<double>(significand + 1), shift);
      const double even = significand % 2 == 0 ? down : up;
      const auto what = std::to_string(significand) + " * 2^" + std::to_string(shift);
      ASSERT_EQ(rounded<TypeParam>(midpoint), even) << what;
      ASSERT_EQ(rounded<TypeParam>(-midpoint), -even) << what;
      if (shift == 1) continue;
      ASSERT_EQ(rounded<TypeParam>(midpoint - 1), down) << what;
      ASSERT_EQ(rounded<TypeParam>(midpoint + 1), up) << what;
      ASSERT_EQ(rounded<TypeParam>(1 - midpoint), -down) << what;
      ASSERT_EQ(rounded<TypeParam>(-1 - midpoint), -up) << what;
    }
  }
}

TYPED_TEST(IntegerRounding, SmallIntegersAreExact) {
  const int maximum = 1 << std::min(precision<TypeParam>, 12);
  for (int value = -maximum; value <= maximum; ++value) ASSERT_EQ(rounded<TypeParam>(value), value);
}

}  // namespace
}  // namespace warpfold
