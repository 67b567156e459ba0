#include "bench/gpu/exact_answers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace warpfold::bench {
namespace {

TEST(ExactAnswers, SumsAreRoundedOnce) {
  UniformSum<float> sum;
  EXPECT_EQ(sum.value(), 0.0f);
  for (int i = 0; i < 4; ++i) sum.add(0.5f);
  sum.add(0x1p-23f);
  EXPECT_EQ(sum.value(), 2.0f) << "a tie";
  sum.add(0x1p-24f);
  EXPECT_EQ(sum.value(), 2.0f + 0x1p-22f);
  UniformSum<double> doubles;
  for (int i = 0; i < 3; ++i) doubles.add(0.9);
  EXPECT_EQ(doubles.value(), 2.7);
}

TEST(ExactAnswers, SumsOfIntegersHave64Bits) {
  UniformSum<std::int32_t> sum;
  for (int i = 0; i < 3; ++i) sum.add(std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(sum.value(), 3 * std::int64_t{0x7fffffff});
}

TEST(ExactAnswers, SumsOfExpansions) {
  Expansion sum;
  add(sum, 1.0);
  add(sum, 0x1p-60);
  EXPECT_EQ(value_of_sum<double>(sum), 1.0);
  EXPECT_EQ(value_of_sum<float>(sum), 1.0f);
  add(sum, 0x1p70);
  add(sum, -0x1p70);
  add(sum, -0x1p-60);
  EXPECT_EQ(value_of_sum<std::int32_t>(sum), 1);
}

TEST(ExactAnswers, LinesRunAlongAnyAxis) {
  const std::vector<std::int32_t> elements{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  using Sums = std::vector<std::int64_t>;
  EXPECT_EQ(line_sums(elements, {.outer = 1, .along = 3, .inner = 4}), (Sums{15, 18, 21, 24}));
  EXPECT_EQ(line_sums(elements, {.outer = 3, .along = 4, .inner = 1}), (Sums{10, 26, 42}));
  EXPECT_EQ(line_sums(elements, {.outer = 2, .along = 3, .inner = 2}), (Sums{9, 12, 27, 30}));
  EXPECT_EQ(line_prefixes(elements, {.outer = 2, .along = 3, .inner = 2}),
            (Sums{1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30}));
}

TEST(ExactAnswers, JudgesByEqualityOrByError) {
  Row row;
  const std::vector<float> right{1.0f, 2.0f};
  const std::vector<float> near{1.0f, 2.0f + 0x1p-21f};
  judge(row, right, right, true);
  EXPECT_EQ(row.check, Check::right);
  judge(row, near, right, true);
  EXPECT_EQ(row.check, Check::wrong);
  row = {};
  judge(row, near, right, false);
  EXPECT_EQ(row.check, Check::none);
  EXPECT_EQ(row.error_ulps, 2.0);
  judge(row, {}, right, false);
  EXPECT_EQ(row.check, Check::wrong);
  row = {};
  judge(row, std::vector<std::int64_t>{1}, std::vector<std::int64_t>{2}, false);
  EXPECT_EQ(row.check, Check::wrong);
}

}  // namespace
}  // namespace warpfold::bench
