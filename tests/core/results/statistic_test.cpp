#include "warpfold/core/statistic.hpp"

#include <gtest/gtest.h>

#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using testing::usage_error_of;
using Statistics = std::vector<Statistic>;

const Statistics known_statistics(std::begin(all_statistics), std::end(all_statistics));

TEST(Statistic, NamesParseBack) {
  for (const Statistic statistic : all_statistics)
    EXPECT_EQ(parse_statistics(name_of(statistic)), Statistics{statistic});
}

TEST(Statistic, AllNamesInOrder) {
  EXPECT_EQ(parse_statistics("count,sum,mean,var,std,min,max,argmin,argmax,l1,l2,linf,"
                             "nan_count,inf_count"),
            known_statistics);
  EXPECT_EQ(parse_statistics("all"), known_statistics);
}

TEST(Statistic, OrderIsKeptAndDuplicatesAreDropped) {
  EXPECT_EQ(parse_statistics("max,sum,max,min,sum"),
            (Statistics{Statistic::max, Statistic::sum, Statistic::min}));
  const Statistics max_first = parse_statistics("max,all,sum");
  EXPECT_EQ(max_first.size(), known_statistics.size());
  EXPECT_EQ(max_first[0], Statistic::max);
  EXPECT_EQ(max_first[1], Statistic::count);
}

TEST(Statistic, UnknownNamesListTheKnownOnes) {
  const Error error = usage_error_of([] { parse_statistics("sum,avg"); });
  EXPECT_EQ(error.problem(), "unknown statistic 'avg'");
  EXPECT_EQ(error.suggestion(),
            "Did you mean mean? Choose from count, sum, mean, var, std, min, max, argmin, argmax, "
            "l1, l2, linf, "
            "nan_count, inf_count; or all; with weights also sum_of_weights.");
  for (const char* names : {"", ",", "sum,", ",sum", "sum,,min"})
    EXPECT_EQ(usage_error_of([names] { parse_statistics(names); }).problem(),
              "unknown statistic ''");
}

}  // namespace
}  // namespace warpfold
