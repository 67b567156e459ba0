#include "pipeline/meaning/statistic_text.hpp"

#include <gtest/gtest.h>

namespace warpfold::pipeline {
namespace {

const io::DatasetText temperature{"K", "air temperature", std::nullopt};

TEST(SquaredUnit, IsWhatUdunitsReads) {
  EXPECT_EQ(squared_unit("K"), "K2");
  EXPECT_EQ(squared_unit("kelvin"), "kelvin2");
  EXPECT_EQ(squared_unit("m s-1"), "(m s-1)2");
  EXPECT_EQ(squared_unit("m2"), "(m2)2");
  EXPECT_EQ(squared_unit("%"), "(%)2");
  EXPECT_EQ(squared_unit("1e-3"), "(1e-3)2");
  EXPECT_EQ(squared_unit("1"), "1");
  EXPECT_EQ(squared_unit(""), "");
}

TEST(SquaredUnit, IsThatOfDifferencesWhereZeroIsAConvention) {
  EXPECT_EQ(squared_unit("degC"), "K2");
  EXPECT_EQ(squared_unit("degrees_Celsius"), "K2");
  EXPECT_EQ(squared_unit("\u00b0C"), "K2");
  EXPECT_EQ(squared_unit("days since 2000-01-01"), "days2");
}

TEST(StatisticText, OfAMeanIsAMethodMore) {
  EXPECT_EQ(text_of(Statistic::mean, temperature, {"time"}),
            (ChangedText{{"cell_methods", "time: mean"}}));
  EXPECT_EQ(text_of(Statistic::max, temperature, {"lat", "lon"}),
            (ChangedText{{"cell_methods", "lat: lon: maximum"}}));
  const io::DatasetText averaged{"K", std::nullopt, "area: mean"};
  EXPECT_EQ(text_of(Statistic::std, averaged, {"time"}),
            (ChangedText{{"cell_methods", "area: mean time: standard_deviation"}}));
}

TEST(StatisticText, OfDimensionsWithoutNamesHasNoMethod) {
  EXPECT_EQ(text_of(Statistic::sum, temperature, {}), ChangedText{});
}

TEST(StatisticText, OfAVarianceHasTheSquaredUnit) {
  EXPECT_EQ(text_of(Statistic::var, temperature, {"time"}),
            (ChangedText{{"standard_name", std::nullopt},
                         {"long_name", "variance of air temperature"},
                         {"units", "K2"},
                         {"cell_methods", "time: variance"}}));
}

TEST(StatisticText, OfCountsAndIndicesHasNoUnit) {
  EXPECT_EQ(text_of(Statistic::argmax, temperature, {"time"}),
            (ChangedText{{"standard_name", std::nullopt},
                         {"long_name", "index of the maximum of air temperature"},
                         {"units", "1"}}));
}

TEST(StatisticText, OfStandardDeviationsOfTimesIsNoDate) {
  const io::DatasetText times{"days since 2000-01-01", std::nullopt, std::nullopt};
  EXPECT_EQ(text_of(Statistic::std, times, {}), (ChangedText{{"units", "days"}}));
  EXPECT_EQ(text_of(Statistic::mean, times, {}), ChangedText{});
}

TEST(StatisticText, IsNothingWhereTheInputSaysNothing) {
  for (const Statistic statistic : all_statistics)
    for (const auto& [name, text] : text_of(statistic, {}, {}))
      EXPECT_EQ(text, std::nullopt) << name;
}

}  // namespace
}  // namespace warpfold::pipeline
