#include "bench/harness/spread.hpp"

#include <gtest/gtest.h>

namespace warpfold::bench {
namespace {

TEST(Spread, OfOneSampleIsThatSample) {
  const Spread spread = spread_of({3.0});
  EXPECT_EQ(spread.median, 3.0);
  EXPECT_EQ(spread.minimum, 3.0);
  EXPECT_EQ(spread.maximum, 3.0);
}

TEST(Spread, TakesTheMiddleOfAnOddNumber) {
  const Spread spread = spread_of({9.0, 1.0, 4.0});
  EXPECT_EQ(spread.median, 4.0);
  EXPECT_EQ(spread.minimum, 1.0);
  EXPECT_EQ(spread.maximum, 9.0);
}

TEST(Spread, TakesTheMeanOfTheMiddleTwoOfAnEvenNumber) {
  EXPECT_EQ(spread_of({8.0, 1.0, 2.0, 4.0}).median, 3.0);
}

}  // namespace
}  // namespace warpfold::bench
