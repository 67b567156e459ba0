#include "bench/ingest/ingest_benchmark.hpp"

#include <gtest/gtest.h>

namespace warpfold::bench {
namespace {

Row row_of(double seconds, bool ceiling) {
  Row row;
  row.ceiling = ceiling;
  row.seconds = Spread{seconds, seconds, seconds};
  return row;
}

TEST(CompareWithCeiling, TakesTheSlowestCeiling) {
  std::vector<Row> rows{row_of(4.0, false), row_of(1.0, true), row_of(3.0, true)};
  compare_with_ceiling(rows);
  EXPECT_EQ(rows[0].of_ceiling, 0.75);
  EXPECT_EQ(rows[1].of_ceiling, 3.0);
  EXPECT_EQ(rows[2].of_ceiling, 1.0);
}

TEST(CompareWithCeiling, SaysNothingWithoutOne) {
  std::vector<Row> rows{row_of(4.0, false)};
  compare_with_ceiling(rows);
  EXPECT_FALSE(rows[0].of_ceiling);
}

}  // namespace
}  // namespace warpfold::bench
