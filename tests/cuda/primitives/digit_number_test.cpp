#include "cuda/primitives/digit_number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace warpfold::cuda::kernels {
namespace {

/// The digits of a normalized sum from a limb below its lowest to one above its highest.
struct Digits {
  explicit Digits(const ExactSum& sum) {
    ExactSum magnitude = sum;
    if (sum.negative()) magnitude.negate();
    int end = ExactSum::limbs - 1;
    while (end > 0 && magnitude.limb[end - 1] == 0) --end;
    while (first < end && magnitude.limb[first] == 0) ++first;
    for (int i = first; i <= end; ++i) digit.push_back(static_cast<std::uint32_t>(sum.limb[i]));
    while (lowest < static_cast<int>(digit.size()) && digit[static_cast<std::size_t>(lowest)] == 0)
      ++lowest;
  }

  DigitNumber number() const {
    return {digit.data(), 1, first, static_cast<int>(digit.size()), lowest};
  }

  std::vector<std::uint32_t> digit;
  int first = 0;
  int lowest = 0;
};

void expect_same_rounding(const ExactSum& sum) {
  const Digits digits(sum);
  for (const Rounding rounding : {Rounding::nearest, Rounding::odd})
    EXPECT_EQ(std::bit_cast<std::uint64_t>(digits.number().rounded(rounding)),
              std::bit_cast<std::uint64_t>(sum.rounded(rounding)));
  EXPECT_EQ(digits.number().least_bit(), sum.least_bit());
  if (!std::isfinite(sum.rounded())) return;
  const DoublePair expected = sum.rounded_pair();
  const DoublePair pair = digits.number().rounded_pair();
  EXPECT_EQ(std::bit_cast<std::uint64_t>(pair.high), std::bit_cast<std::uint64_t>(expected.high));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(pair.low), std::bit_cast<std::uint64_t>(expected.low));
}

ExactSum sum_of(const std::vector<double>& terms) {
  ExactSum sum{};
  for (const double term : terms) sum.add(term);
  sum.normalize();
  return sum;
}

TEST(DigitNumber, RoundsTiesAndCarriesAsExactSumsDo) {
  const std::vector<std::vector<double>> sums = {
      {},
      {1.0},
      {-1.0},
      {0x1p53, 1.0},
      {0x1p53, 3.0},
      {-0x1p53, -1.0, -0x1p-1074},
      {0x1p53, 1.0, -0x1p-1074},
      {0x1.fffffffffffffp53, 1.0},
      {0x1p-1074},
      {-0x1p-1074},
      {0x1.fffffffffffffp1023, 0x1p969},
      {0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023},
      {1.0, 0x1p-1000},
      {-1.0, 0x1p-1000},
      {0x1p1000, -0x1p-1000},
      {0x1p960, -0x1p906},
  };
  for (const auto& terms : sums) expect_same_rounding(sum_of(terms));
}

TEST(DigitNumber, RoundsAnySumAsExactSumsDo) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::vector<double> terms(1 + random() % 6);
    const std::uint64_t range = round % 2 == 0 ? 2047 : 130;
    for (double& term : terms) {
      const std::uint64_t fraction = (random() >> 12) & (~std::uint64_t{0} << (random() % 52));
      const std::uint64_t exponent = (range == 2047 ? 0 : 900) + random() % range;
      term = std::bit_cast<double>((random() & 1) << 63 | exponent << 52 | fraction);
    }
    if (random() % 4 == 0) terms.push_back(-terms.front());
    expect_same_rounding(sum_of(terms));
  }
}

}  // namespace
}  // namespace warpfold::cuda::kernels
