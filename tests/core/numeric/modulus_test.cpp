#include "core/numeric/modulus.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

TEST(RoundedModulus, OfPythagoreanTriplesIsExact) {
  for (const double scale : {1.0, 0x1p-1070, 0x1p-500, 0x1p600, 0x1p1000}) {
    EXPECT_EQ(rounded_modulus(3 * scale, -4 * scale), 5 * scale);
    EXPECT_EQ(rounded_modulus(-20 * scale, 21 * scale), 29 * scale);
  }
}

TEST(RoundedModulus, TiesGoToEven) {
  for (const double third : {0x1p50 + 1, 0x1p50 + 3}) {
    const double odd = 2 * third - 1;
    EXPECT_EQ(rounded_modulus(3 * odd, 4 * odd), 5 * odd);
  }
  // 5 * 1801439850948199 is halfway between two doubles.
  EXPECT_EQ(rounded_modulus(3 * 1801439850948199.0, 4 * 1801439850948199.0), 9007199254740996.0);
}

TEST(RoundedModulus, DoesNotOverflowOrUnderflowEarly) {
  EXPECT_EQ(rounded_modulus(0x1p1023, 0.0), 0x1p1023);
  EXPECT_EQ(rounded_modulus(0x1.fp1023, 0x1.fp1023), infinity);
  EXPECT_EQ(rounded_modulus(0x1p-1074, 0x1p-1074), 0x1p-1074);
  EXPECT_EQ(rounded_modulus(0.0, -0.0), 0.0);
  EXPECT_EQ(rounded_modulus(1.0, 0x1p-1074), 1.0);
}

TEST(RoundedModulus, OfWhatIsNotFinite) {
  const double nan = std::nan("");
  EXPECT_EQ(rounded_modulus(-infinity, nan), infinity);
  EXPECT_EQ(rounded_modulus(nan, infinity), infinity);
  EXPECT_TRUE(std::isnan(rounded_modulus(1.0, nan)));
}

/// Beyond the range of the quick way a scaled result has the same bits.
TEST(RoundedModulus, IsTheSameByBothWays) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20'000; ++trial) {
    const double real = normal(random);
    const double imaginary = std::ldexp(normal(random), static_cast<int>(random() % 80) - 60);
    const double expected = rounded_modulus(real, imaginary);
    ASSERT_EQ(rounded_modulus(std::ldexp(real, 900), std::ldexp(imaginary, 900)),
              std::ldexp(expected, 900));
  }
}

}  // namespace
}  // namespace warpfold
