#include "core/results/accumulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/results/reducing.hpp"

namespace warpfold {
namespace {

using testing::reduce;
using testing::reduced;

void expect_same(const Extremum& a, const Extremum& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.bits, b.bits);
}

template <class Number>
void expect_same_limbs(const Number& a, const Number& b) {
  EXPECT_TRUE(std::equal(std::begin(a.limb), std::end(a.limb), std::begin(b.limb)));
}

void expect_same(const Accumulator& a, const Accumulator& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nan_count, b.nan_count);
  EXPECT_EQ(a.positive_infinities, b.positive_infinities);
  EXPECT_EQ(a.negative_infinities, b.negative_infinities);
  expect_same_limbs(a.sum, b.sum);
  expect_same_limbs(a.absolute, b.absolute);
  expect_same_limbs(a.squares, b.squares);
  expect_same(a.minimum, b.minimum);
  expect_same(a.maximum, b.maximum);
  EXPECT_EQ(a.first_nan, b.first_nan);
}

/// Few values, so that ties abound; every special one among them.
std::vector<double> elements_with_ties() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {0.0, -0.0, 1.5, -1.5, 1e300, -1e300, infinity, -infinity, nan};
  std::mt19937_64 random(4);
  std::vector<double> elements(500);
  for (double& element : elements) element = values[random() % std::size(values)];
  return elements;
}

TEST(Accumulator, MergesAnyPartitionInAnyOrder) {
  const std::vector<double> elements = elements_with_ties();
  const Accumulator expected = reduced(elements);
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<Accumulator> parts(1 + random() % 9, Accumulator::empty());
    for (std::uint64_t i = 0; i < elements.size(); ++i)
      reduce(parts[random() % parts.size()], elements[i], i);
    Accumulator total = Accumulator::empty();
    for (Accumulator& part : parts) {
      part.normalize();
      total.merge(part);
    }
    total.normalize();
    expect_same(total, expected);
  }
}

TEST(Accumulator, ShiftedIndicesAreThoseOfTheWhole) {
  const std::vector<double> elements = {3.0, std::nan(""), -2.0, 7.0};
  Accumulator part = Accumulator::empty();
  Accumulator whole = Accumulator::empty();
  for (std::uint64_t i = 0; i < elements.size(); ++i) {
    reduce(part, elements[i], i);
    reduce(whole, elements[i], 1000 + i);
  }
  part.shift_indices(1000);
  expect_same(part, whole);
  Accumulator nothing = Accumulator::empty();
  nothing.shift_indices(1000);
  expect_same(nothing, Accumulator::empty());
}

TEST(Accumulator, MergingNothingChangesNothing) {
  const Accumulator expected = reduced(elements_with_ties());
  Accumulator total = expected;
  total.merge(Accumulator::empty());
  expect_same(total, expected);
}

TEST(Accumulator, RepeatingAddsAsOftenAsMerging) {
  const Accumulator once = reduced(elements_with_ties());
  Accumulator merged = once;
  for (std::uint64_t times = 1; times < 70; ++times) {
    Accumulator repeated = once;
    repeated.repeat(times);
    repeated.normalize();
    expect_same(repeated, merged);
    merged.merge(once);
    merged.normalize();
  }
}

TEST(Accumulator, RepeatingReachesEveryCount) {
  constexpr std::uint64_t times = (std::uint64_t{1} << 47) - 1;
  Accumulator repeated = reduced(std::vector{1.5});
  repeated.repeat(times);
  EXPECT_EQ(repeated.count, static_cast<std::int64_t>(times));
  ExactSum expected{};
  expected.add(static_cast<int128>(times));
  expected.add(std::ldexp(static_cast<double>(times), -1));
  expected.normalize();
  repeated.normalize();
  expect_same_limbs(repeated.sum, expected);
}

TEST(Extremum, TiesGoToTheLowestIndex) {
  const Accumulator zeros = reduced(std::vector<double>{1.0, 0.0, -0.0, -0.0});
  EXPECT_EQ(zeros.minimum.index, 1u);
  const Accumulator later = reduced(std::vector<double>{-1.0, -0.0, 0.0});
  EXPECT_EQ(later.maximum.index, 1u);
  EXPECT_EQ(later.maximum.bits, 0x8000000000000000u);
}

TEST(Extremum, TheWorstKeyStillCounts) {
  const std::vector<std::uint64_t> elements = {std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(reduced(elements).minimum.index, 0u);
  EXPECT_EQ(reduced(std::vector<std::uint64_t>{0, 0}).maximum.index, 0u);
  EXPECT_FALSE(Extremum::none().seen());
}

}  // namespace
}  // namespace warpfold
