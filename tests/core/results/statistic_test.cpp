#include "warpfold/core/statistic.hpp"

#include <gtest/gtest.h>

#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using testing::usage_error_of;
using Statistics = std::vector<Statistic>;

const Statistics every_statistic(std::begin(all_statistics), std::end(all_statistics));

TEST(Statistic, NamesParseBack) {
  for (const Statistic statistic : all_statistics)
    EXPECT_EQ(parse_statistics(name_of(statistic)), Statistics{statistic});
}

TEST(Statistic, AllNamesInOrder) {
  EXPECT_EQ(parse_statistics("count,sum,mean,var,std,min,max,argmin,argmax,l1,l2,linf,"
                             "nan_count,inf_count"),
            every_statistic);
  EXPECT_EQ(parse_statistics("all"), every_statistic);
}

TEST(Statistic, OrderIsKeptAndDuplicatesAreDropped) {
  EXPECT_EQ(parse_statistics("max,sum,max,min,sum"),
            (Statistics{Statistic::max, Statistic::sum, Statistic::min}));
  const Statistics max_first = parse_statistics("max,all,sum");
  EXPECT_EQ(max_first.size(), every_statistic.size());
  EXPECT_EQ(max_first[0], Statistic::max);
  EXPECT_EQ(max_first[1], Statistic::count);
}

TEST(Statistic, UnknownNamesListTheKnownOnes) {
  const Error error = usage_error_of([] { parse_statistics("sum,avg"); });
  EXPECT_EQ(error.problem(), "unknown statistic 'avg'");
  EXPECT_EQ(error.suggestion(),
            "Choose from count, sum, mean, var, std, min, max, argmin, argmax, l1, l2, linf, "
            "nan_count, inf_count; or all.");
  for (const char* names : {"", ",", "sum,", ",sum", "sum,,min"})
    EXPECT_EQ(usage_error_of([names] { parse_statistics(names); }).problem(),
              "unknown statistic ''");
}

void expect_needs(const Statistics& statistics, ElementType type, ReduceNeeds expected) {
  const ReduceNeeds needs = needs_of(statistics, type);
  EXPECT_EQ(needs.sum, expected.sum) << name_of(type);
  EXPECT_EQ(needs.absolute, expected.absolute) << name_of(type);
  EXPECT_EQ(needs.squares, expected.squares) << name_of(type);
  EXPECT_EQ(needs.extrema, expected.extrema) << name_of(type);
}

TEST(ReduceNeeds, OfEachStatisticAreMinimal) {
  for (const ElementType type : all_element_types) {
    for (const auto counted : {Statistic::count, Statistic::nan_count, Statistic::inf_count})
      expect_needs({counted}, type, {});
    for (const auto summed : {Statistic::sum, Statistic::mean})
      expect_needs({summed}, type, {.sum = true});
    for (const auto spread : {Statistic::var, Statistic::std})
      expect_needs({spread}, type, {.sum = true, .squares = true});
    for (const auto extreme :
         {Statistic::min, Statistic::max, Statistic::argmin, Statistic::argmax, Statistic::linf})
      expect_needs({extreme}, type, {.extrema = true});
    expect_needs({Statistic::l2}, type, {.squares = true});
  }
}

TEST(ReduceNeeds, OfAbsoluteSumsAreSumsWhereNothingIsNegative) {
  for (const auto type : {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64})
    expect_needs({Statistic::l1}, type, {.sum = true});
  for (const auto type : {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64,
                          ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
    expect_needs({Statistic::l1}, type, {.absolute = true});
}

TEST(ReduceNeeds, OfSeveralStatisticsAreTogether) {
  expect_needs({}, ElementType::f64, {});
  expect_needs({Statistic::sum, Statistic::min}, ElementType::i8, {.sum = true, .extrema = true});
  expect_needs(every_statistic, ElementType::f32,
               {.sum = true, .absolute = true, .squares = true, .extrema = true});
  expect_needs(every_statistic, ElementType::u32, {.sum = true, .squares = true, .extrema = true});
}

}  // namespace
}  // namespace warpfold
