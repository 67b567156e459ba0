#include "core/numeric/exact_rounding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

/// (a * b) / (c * d) * 2^exponent, and its square root.
struct QuotientCase {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
  std::uint64_t d;
  int exponent;
  double quotient;
  double root;
};

const QuotientCase quotient_cases[] = {
#include "core/numeric/quotient_cases.inc"
};

TEST(ExactRounding, AgreesWithFractions) {
  for (const QuotientCase& x : quotient_cases) {
    const BigNatural numerator = BigNatural(x.a) * BigNatural(x.b);
    const uint128 denominator = static_cast<uint128>(x.c) * x.d;
    EXPECT_EQ(rounded_quotient(numerator, denominator, x.exponent), x.quotient)
        << x.a << " * " << x.b << " / (" << x.c << " * " << x.d << ") * 2^" << x.exponent;
    EXPECT_EQ(rounded_sqrt_quotient(numerator, denominator, x.exponent), x.root)
        << x.a << " * " << x.b << " / (" << x.c << " * " << x.d << ") * 2^" << x.exponent;
  }
}

TEST(ExactRounding, AgreesWithTheHardware) {
  std::mt19937_64 random(10);
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::uint64_t a = random() >> (11 + random() % 53);
    const std::uint64_t b = (random() >> (11 + random() % 53)) | 1u;
    const auto numerator = static_cast<double>(a);
    ASSERT_EQ(rounded_quotient(BigNatural(a), b, 0), numerator / static_cast<double>(b));
    ASSERT_EQ(rounded_sqrt_quotient(BigNatural(a), 1, 0), std::sqrt(numerator));
    ASSERT_EQ(rounded_sqrt_quotient(BigNatural(a), 1, -601),
              std::sqrt(std::ldexp(numerator, -601)));
  }
}

TEST(ExactRounding, ZeroIsZero) {
  EXPECT_EQ(rounded_quotient(BigNatural(0), 3, 0), 0.0);
  EXPECT_EQ(rounded_sqrt_quotient(BigNatural(0), 3, 1), 0.0);
}

TEST(ExactRounding, TakesDenominatorsUpToTheirLimit) {
  const uint128 limit = uint128{1} << 127;
  EXPECT_EQ(rounded_quotient(BigNatural(3), limit, 127), 3.0);
  EXPECT_EQ(rounded_quotient(BigNatural(1), limit - 1, 127), 1.0);
  EXPECT_EQ(rounded_sqrt_quotient(BigNatural(9), limit, 127), 3.0);
}

TEST(ExactRounding, FarDigitsBreakTies) {
  constexpr int exponent = -32 * ExactSum::low_limbs;
  const auto natural = [](std::initializer_list<double> terms) {
    ExactSum sum{};
    for (const double term : terms) sum.add(term);
    sum.normalize();
    return BigNatural(sum);
  };
  EXPECT_EQ(rounded_quotient(natural({0x1p53, 1.0}), 1, exponent), 0x1p53);
  EXPECT_EQ(rounded_quotient(natural({0x1p53, 1.0, 0x1p-1074}), 1, exponent), 0x1p53 + 2);
  EXPECT_EQ(rounded_sqrt_quotient(natural({0x1p106, 0x1p54, 1.0}), 1, exponent), 0x1p53);
  EXPECT_EQ(rounded_sqrt_quotient(natural({0x1p106, 0x1p54, 1.0, 0x1p-1074}), 1, exponent),
            0x1p53 + 2);
}

TEST(ExactRounding, AroundTheEndsOfTheRange) {
  EXPECT_EQ(rounded_quotient(BigNatural(1), 2, -1074), 0.0);
  EXPECT_EQ(rounded_quotient(BigNatural(2), 3, -1074), 0x1p-1074);
  EXPECT_EQ(rounded_quotient(BigNatural(3), 2, -1074), 0x1p-1073);
  EXPECT_EQ(rounded_quotient(BigNatural(1), 1, 1024), infinity);
  EXPECT_EQ(rounded_sqrt_quotient(BigNatural(1), 1, -2150), 0.0);
  EXPECT_EQ(rounded_sqrt_quotient(BigNatural(1), 1, -2149), 0x1p-1074);
  EXPECT_EQ(rounded_sqrt_quotient(BigNatural(1), 1, 2048), infinity);
  EXPECT_EQ(rounded_sqrt_quotient(BigNatural(1), 1, 2046), 0x1p1023);
}

/// Returns the integer's quotient by the divisor in 128 bits: its double towards 0, or to an odd
/// one.
double truncated_or_odd(std::uint64_t dividend, std::uint64_t divisor) {
  const int bits = 64 - std::countl_zero(dividend / divisor | 1);
  const int shift = 53 - bits;
  const uint128 scaled = uint128{dividend} << 64;
  uint128 quotient = scaled / divisor;
  bool rest = scaled % divisor != 0;
  const int drop = 64 - shift;
  rest = rest || (quotient & ((uint128{1} << drop) - 1)) != 0;
  quotient >>= drop;
  return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(quotient) | (rest ? 1u : 0u)),
                    -shift);
}

TEST(RoundedQuotient, OfDoublesIsRoundedOnce) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t divisor = random() % (std::uint64_t{1} << (1 + random() % 40)) + 1;
    const std::uint64_t dividend =
        std::min(divisor + (random() >> (11 + random() % 20)), std::uint64_t{1} << 53);
    if (dividend < divisor) continue;
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    const Expansion sum{{sign * static_cast<double>(dividend)}};
    ASSERT_EQ(rounded_quotient(sum, divisor, Rounding::odd),
              sign * truncated_or_odd(dividend, divisor))
        << dividend << " / " << divisor;
    ASSERT_EQ(rounded_quotient(sum, divisor, Rounding::nearest),
              static_cast<double>(dividend) / static_cast<double>(divisor) * sign);
  }
  EXPECT_EQ(rounded_quotient(Expansion{}, 3, Rounding::odd), 0.0);
  EXPECT_EQ(rounded_quotient(Expansion{{0x1p-1000}}, 3, Rounding::odd), std::nullopt);
}

}  // namespace
}  // namespace warpfold
