#include "warpfold/core/float16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

template <class Half>
class Float16Test : public ::testing::Test {};

struct ShortFormatNames {
  template <class Half>
  static std::string GetName(int) {
    return std::is_same_v<Half, Float16> ? "Float16" : "BFloat16";
  }
};

using ShortFormats = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Float16Test, ShortFormats, ShortFormatNames);

template <class Half>
Half pattern(std::uint32_t bits) {
  return Half{static_cast<std::uint16_t>(bits)};
}

template <class Half>
constexpr std::uint32_t infinity_bits = 0x7fffu & ~((1u << Half::mantissa_bits) - 1);

/// From the definition of IEEE 754's formats.
template <class Half>
double value_of_pattern(std::uint32_t bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>((bits & 0x7fffu) >> Half::mantissa_bits);
  const double fraction = bits & ((1u << Half::mantissa_bits) - 1);
  const double ulp = std::ldexp(1.0, -Half::mantissa_bits);
  if (exponent == (1 << Half::exponent_bits) - 1)
    return fraction == 0 ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction * ulp, 1 - Half::bias);
  return sign * std::ldexp(1.0 + fraction * ulp, exponent - Half::bias);
}

TYPED_TEST(Float16Test, EveryPatternHasItsValue) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const double expected = value_of_pattern<TypeParam>(bits);
    const auto value = static_cast<double>(pattern<TypeParam>(bits).to_float());
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000u) != 0) << bits;
    }
  }
}

TYPED_TEST(Float16Test, EveryPatternRoundTrips) {
  constexpr auto quiet_nan =
      static_cast<std::uint16_t>(infinity_bits<TypeParam> | 1u << (TypeParam::mantissa_bits - 1));
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto value = static_cast<double>(pattern<TypeParam>(bits).to_float());
    const std::uint16_t back = TypeParam::from_double(value).bits;
    ASSERT_EQ(back, std::isnan(value) ? quiet_nan : bits) << bits;
  }
}

TYPED_TEST(Float16Test, EveryMidpointGoesToEvenAndItsNeighboursToTheNearest) {
  for (std::uint32_t bits = 0; bits + 1 < infinity_bits<TypeParam>; ++bits) {
    const double midpoint =
        (value_of_pattern<TypeParam>(bits) + value_of_pattern<TypeParam>(bits + 1)) / 2;
    ASSERT_EQ(TypeParam::from_double(midpoint).bits, bits + (bits & 1u)) << bits;
    ASSERT_EQ(TypeParam::from_double(std::nextafter(midpoint, 0.0)).bits, bits) << bits;
    ASSERT_EQ(TypeParam::from_double(std::nextafter(midpoint, infinity)).bits, bits + 1) << bits;
    ASSERT_EQ(TypeParam::from_double(-midpoint).bits, (bits + (bits & 1u)) | 0x8000u) << bits;
  }
}

TYPED_TEST(Float16Test, ValuesHalfAnUlpBeyondTheLargestAreInfinite) {
  const std::uint32_t largest = infinity_bits<TypeParam> - 1;
  const double ulp =
      value_of_pattern<TypeParam>(largest) - value_of_pattern<TypeParam>(largest - 1);
  const double limit = value_of_pattern<TypeParam>(largest) + ulp / 2;
  EXPECT_EQ(TypeParam::from_double(limit).bits, infinity_bits<TypeParam>);
  EXPECT_EQ(TypeParam::from_double(-limit).bits, infinity_bits<TypeParam> | 0x8000u);
  EXPECT_EQ(TypeParam::from_double(std::nextafter(limit, 0.0)).bits, largest);
  EXPECT_EQ(TypeParam::from_double(std::numeric_limits<double>::max()).bits,
            infinity_bits<TypeParam>);
}

TYPED_TEST(Float16Test, TinyDoublesAreZerosOfTheirSign) {
  EXPECT_EQ(TypeParam::from_double(0x1p-1074).bits, 0u);
  EXPECT_EQ(TypeParam::from_double(-0x1p-1074).bits, 0x8000u);
  EXPECT_EQ(TypeParam::from_double(-0.0).bits, 0x8000u);
}

TEST(Float16, KnownValues) {
  EXPECT_EQ(Float16{0x3c00}.to_float(), 1.0f);
  EXPECT_EQ(Float16{0xc000}.to_float(), -2.0f);
  EXPECT_EQ(Float16{0x3555}.to_float(), 0.333251953125f);
  EXPECT_EQ(Float16{0x7bff}.to_float(), 65504.0f);
  EXPECT_EQ(Float16{0x0400}.to_float(), 0x1p-14f);
  EXPECT_EQ(Float16{0x0001}.to_float(), 0x1p-24f);
}

TEST(BFloat16, KnownValues) {
  EXPECT_EQ(BFloat16{0x3f80}.to_float(), 1.0f);
  EXPECT_EQ(BFloat16{0xc000}.to_float(), -2.0f);
  EXPECT_EQ(BFloat16{0x4049}.to_float(), 3.140625f);
  EXPECT_EQ(BFloat16{0x7f7f}.to_float(), 0x1.fep127f);
  EXPECT_EQ(BFloat16{0x0080}.to_float(), 0x1p-126f);
  EXPECT_EQ(BFloat16{0x0001}.to_float(), 0x1p-133f);
}

TEST(Float16, KnownRoundings) {
  EXPECT_EQ(Float16::from_double(65519.99).bits, 0x7bffu);
  EXPECT_EQ(Float16::from_double(65520.0).bits, 0x7c00u);
  EXPECT_EQ(Float16::from_double(0x1p-25).bits, 0x0000u);
  EXPECT_EQ(Float16::from_double(0x1.0000000000001p-25).bits, 0x0001u);
  EXPECT_EQ(Float16::from_double(0x1.8p-24).bits, 0x0002u);
  EXPECT_EQ(Float16::from_double(0.1).bits, 0x2e66u);
  EXPECT_EQ(BFloat16::from_double(0.1).bits, 0x3dcdu);
}

TEST(Float16, RoundsOnceRatherThanByWayOfFloat) {
  EXPECT_EQ(Float16::from_double(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01u);
  EXPECT_EQ(BFloat16::from_double(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81u);
}

}  // namespace
}  // namespace warpfold
