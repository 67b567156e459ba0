#include "cli/options/operations.hpp"

#include <gmock/gmock.h>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

using ::testing::ElementsAre;

TEST(ParseOperations, StatisticsAndQuantiles) {
  const Operations operations = parse_operations("--ops", "median, mean,q05,q0.999,max,q1.,q.5");
  EXPECT_THAT(operations.statistics, ElementsAre(Statistic::mean, Statistic::max));
  EXPECT_THAT(operations.quantiles, ElementsAre("median", "q05", "q0.999", "q1.", "q.5"));
  EXPECT_THAT(operations.fractions, ElementsAre(0.5, 0.05, 0.999, 1.0, 0.5));
}

TEST(ParseOperations, EachNameOnce) {
  const Operations operations = parse_operations("--ops", "q50,median,q50,min,min");
  EXPECT_THAT(operations.statistics, ElementsAre(Statistic::min));
  EXPECT_THAT(operations.quantiles, ElementsAre("q50", "median"));
}

TEST(ParseOperations, AllAreStatistics) {
  EXPECT_TRUE(parse_operations("--ops", "all").quantiles.empty());
}

TEST(ParseOperations, WhatIsNotClearIsRefused) {
  for (const char* text : {"q5", "q100", "q005", "q1.01", "q99.9", "q.", "q0.5.5", "q", "quart",
                           "q-0.5", "q0x1", "q1e-3", "", "mean,,q05"}) {
    try {
      parse_operations("--ops", text);
      ADD_FAILURE() << text << " is taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::usage) << text;
    }
  }
}

}  // namespace
}  // namespace warpfold::cli
