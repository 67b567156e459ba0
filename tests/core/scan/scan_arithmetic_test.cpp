#include "core/scan/scan_arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/float16.hpp"
#include "warpfold/core/int128.hpp"
#include "warpfold/core/ordered_key.hpp"

namespace warpfold {
namespace {

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
  return widened(scan_order::output_element<Out>(value));
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
