#include "cuda/primitives/wide_number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/scan/exact_prefixes.hpp"

namespace warpfold::cuda::kernels {
namespace {

constexpr int digits = 70;
constexpr int unit = -1088;

/// Adds terms and compares the sum, rounded on the way to a double and to a float, after each.
void expect_right_sums(const std::vector<double>& terms) {
  WideNumber<digits> number{};
  testing::LongSum expected;
  for (const double term : terms) {
    number.add(term, unit);
    expected.add(term);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(number.rounded(rounding_towards<double>, unit)),
              std::bit_cast<std::uint64_t>(expected.rounded<double>()));
    const double to_float = number.rounded(rounding_towards<float>, unit);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(to_float)),
              std::bit_cast<std::uint32_t>(expected.rounded<float>()));
  }
}

TEST(WideNumber, RoundsTiesCarriesAndTheLeastAndLargestNumbers) {
  expect_right_sums({0.0, 1.0, -1.0, -1.0, 1.0});
  expect_right_sums({0x1p53, 1.0, 2.0, 0x1p-1074, -0x1p-1073});
  expect_right_sums({-0x1p53, -1.0, -0x1p-1074, 0x1p-1074, -2.0});
  expect_right_sums({0x1p24, 1.0, 2.0, 0x1p-149, -0x1p-148});
  expect_right_sums({0x1p-1074, 0x1p-1074, -0x1p-1022, 0x1p-1073});
  expect_right_sums({0x1.fffffffffffffp1023, 0x1p969, 0x1.fffffffffffffp1023, -0x1p1023});
  expect_right_sums({0x1p1000, -0x1p-1000, -0x1p1000, 0x1p-1000});
}

TEST(WideNumber, SumsWhatCancelsOverAllExponents) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> terms;
    for (int i = 0; i < 40; ++i) {
      const auto fraction = static_cast<double>(static_cast<std::int64_t>(random()) >> 10);
      terms.push_back(std::ldexp(fraction, static_cast<int>(random() % 2000) - 1074));
    }
    for (int i = 0; i < 40; ++i) terms.push_back(-terms[random() % 40]);
    expect_right_sums(terms);
  }
}

TEST(WideNumber, TakesUnitsOfItsOwn) {
  WideNumber<3> number{};
  number.add(0x1p-10, -10);
  number.add(-0x1p+60, -10);
  EXPECT_EQ(number.rounded(Rounding::odd, -10), std::nextafter(-0x1p60, 0.0));
  EXPECT_EQ(number.rounded(Rounding::odd, -1084), std::ldexp(std::nextafter(-0x1p60, 0.0), -1074));
}

}  // namespace
}  // namespace warpfold::cuda::kernels
