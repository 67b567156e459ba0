#include "core/results/label_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace warpfold {
namespace {

std::vector<std::uint64_t> labels_of(const LabelNumbers& numbers) {
  return {numbers.labels().begin(), numbers.labels().end()};
}

TEST(LabelNumbers, AreGivenAsLabelsCome) {
  LabelNumbers numbers;
  EXPECT_EQ(numbers.size(), 0u);
  const std::uint64_t labels[] = {7, 7, 0, ~std::uint64_t{0}, 7, 0, 3};
  const std::uint32_t expected[] = {0, 0, 1, 2, 0, 1, 3};
  for (std::size_t i = 0; i < std::size(labels); ++i) EXPECT_EQ(numbers(labels[i]), expected[i]);
  EXPECT_EQ(labels_of(numbers), (std::vector<std::uint64_t>{7, 0, ~std::uint64_t{0}, 3}));
}

/// Labels that are many, and some that any hashing of their lower or upper bits would pile up.
std::vector<std::uint64_t> many_labels(std::mt19937_64& random, int shift) {
  std::vector<std::uint64_t> labels(50'000);
  for (std::uint64_t& label : labels) label = (random() % 20'000) << shift;
  return labels;
}

TEST(LabelNumbers, AreThoseOfAMap) {
  std::mt19937_64 random(3);
  for (const int shift : {0, 7, 32, 48}) {
    LabelNumbers numbers;
    std::map<std::uint64_t, std::uint32_t> known;
    std::vector<std::uint64_t> in_order;
    for (const std::uint64_t label : many_labels(random, shift)) {
      const auto [found, is_new] =
          known.emplace(label, static_cast<std::uint32_t>(in_order.size()));
      if (is_new) in_order.push_back(label);
      ASSERT_EQ(numbers(label), found->second);
    }
    EXPECT_EQ(numbers.size(), in_order.size());
    EXPECT_EQ(labels_of(numbers), in_order);
  }
}

}  // namespace
}  // namespace warpfold
