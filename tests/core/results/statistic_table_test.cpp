#include "core/results/statistic_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/text.hpp"

namespace warpfold {
namespace {

TEST(StatisticTable, HasOneRowOfEach) {
  std::set<Statistic> statistics;
  for (const StatisticRow& row : statistic_table()) {
    EXPECT_TRUE(statistics.insert(row.statistic).second) << row.name;
    EXPECT_EQ(&row_of(row.statistic), &row);
  }
  EXPECT_EQ(statistics.size(), std::size(all_statistics) + 1);
}

TEST(StatisticTable, NamesMeanOneStatistic) {
  std::set<std::string> names{"all", "median"};
  for (const StatisticRow& row : statistic_table()) {
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    for (const std::string& other : split_words(std::string(row.other_names)))
      EXPECT_TRUE(names.insert(other).second) << other;
  }
}

TEST(StatisticTable, SaysOfEachResultWhatItIs) {
  for (const StatisticRow& row : statistic_table()) {
    EXPECT_TRUE(row.cell_method != nullptr || row.prefix != nullptr) << row.name;
    EXPECT_TRUE(row.prefix != nullptr || row.unit != ResultUnit::none) << row.name;
  }
}

}  // namespace
}  // namespace warpfold
