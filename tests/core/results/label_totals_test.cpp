#include "core/results/label_totals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <random>
#include <vector>

#include "core/results/axis_reducing.hpp"
#include "core/results/reducing.hpp"

namespace warpfold {
namespace {

using testing::everything;

/// Elements that have a label each.
struct Labelled {
  std::vector<std::uint64_t> labels;
  std::vector<double> elements;
};

/// Returns elements of few labels, some with values that no expansion has room for.
Labelled random_elements(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Labelled all;
  for (int i = 0; i < 3000; ++i) {
    all.labels.push_back((random() % 40) * 0x0101'0101'0101);
    all.elements.push_back(std::ldexp(static_cast<double>(random() % 2001) - 1000.0,
                                      static_cast<int>(random() % 1800) - 900));
  }
  return all;
}

/// Reduces every `step`-th element, from the one at `first`, with labels numbered as they come.
void add_share(const Labelled& all, std::size_t first, std::size_t step, LabelTotals& totals) {
  LabelNumbers numbers;
  AxisParts parts;
  for (std::size_t i = first; i < all.elements.size(); i += step) {
    const std::uint32_t output = numbers(all.labels[i]);
    parts.grow(everything, numbers.size());
    testing::reduce(parts, output, all.elements[i], i);
  }
  totals.merge(numbers.labels(), parts);
}

std::map<std::uint64_t, Accumulator> expected_totals(const Labelled& all) {
  std::map<std::uint64_t, Accumulator> expected;
  for (std::size_t i = 0; i < all.elements.size(); ++i) {
    const auto [found, is_new] = expected.emplace(all.labels[i], Accumulator::empty());
    testing::reduce(found->second, all.elements[i], i);
  }
  for (auto& [label, accumulator] : expected) accumulator.normalize();
  return expected;
}

void expect_sorted_totals(const LabelTotals& totals,
                          const std::map<std::uint64_t, Accumulator>& expected) {
  ASSERT_EQ(totals.labels().size(), expected.size());
  std::uint64_t output = 0;
  for (const auto& [label, accumulator] : expected) {
    EXPECT_EQ(totals.labels()[output], label);
    const Accumulator found = totals.totals().accumulator(output++);
    EXPECT_EQ(std::memcmp(&found, &accumulator, sizeof found), 0) << label;
  }
}

TEST(LabelTotals, AreThoseOfEachLabelsElements) {
  const Labelled all = random_elements(1);
  for (const std::uint64_t workers : std::initializer_list<std::uint64_t>{1, 2, 5}) {
    LabelTotals totals(ElementType::f64, everything);
    for (std::uint64_t worker = 0; worker < workers; ++worker)
      add_share(all, worker, workers, totals);
    expect_sorted_totals(totals.sorted(), expected_totals(all));
  }
}

TEST(LabelTotals, PackedMergeAsTheyAre) {
  const Labelled all = random_elements(2);
  LabelTotals merged(ElementType::f64, everything);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    LabelTotals part(ElementType::f64, everything);
    add_share(all, rank, 4, part);
    merged.merge(part.packed());
  }
  merged.merge(LabelTotals(ElementType::f64, everything).packed());
  expect_sorted_totals(merged.sorted(), expected_totals(all));
}

TEST(LabelTotals, ALabelWithoutElementsIsKept) {
  LabelTotals totals(ElementType::i32, {.sum = true});
  totals.merge(std::vector<std::uint64_t>{9, 4}, AxisParts({.sum = true}, 2));
  const LabelTotals sorted = totals.sorted();
  ASSERT_EQ(sorted.labels().size(), 2u);
  EXPECT_EQ(sorted.labels()[0], 4u);
  EXPECT_EQ(sorted.labels()[1], 9u);
  EXPECT_EQ(sorted.totals().accumulator(0).count, 0);
}

}  // namespace
}  // namespace warpfold
