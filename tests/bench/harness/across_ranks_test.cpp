#include "bench/harness/across_ranks.hpp"

#include <gtest/gtest.h>

namespace warpfold::bench {
namespace {

Row row_of(const char* operation, const char* kernel, double rate) {
  Row row;
  row.operation = operation;
  row.kernel = kernel;
  row.gigabytes_per_second = rate;
  return row;
}

TEST(CompareWithPeers, SetsShares) {
  std::vector<Row> rows{row_of("sum", "fold", 300), row_of("statistics", "fold", 150),
                        row_of("sum", "CUB", 200), row_of("copy", "copy", 100)};
  compare_with_peers(rows);
  EXPECT_EQ(rows[0].of_cub, 1.5);
  EXPECT_EQ(rows[0].of_copy, 3.0);
  EXPECT_EQ(rows[1].of_cub, 0.75);
  EXPECT_EQ(rows[3].of_copy, 1.0);
  EXPECT_FALSE(rows[3].of_cub);
}

TEST(CompareWithPeers, ComparesScansOfOneKind) {
  std::vector<Row> rows{row_of("inclusive", "bulk", 300), row_of("exclusive", "bulk", 300),
                        row_of("inclusive", "CUB", 200), row_of("exclusive", "CUB", 100)};
  compare_with_peers(rows);
  EXPECT_EQ(rows[0].of_cub, 1.5);
  EXPECT_EQ(rows[1].of_cub, 3.0);
  EXPECT_FALSE(rows[0].of_copy);
}

TEST(CompareWithPeers, LeavesOutWhatWasNotRun) {
  std::vector<Row> rows{row_of("sum", "fold", 300), row_of("sum", "CUB", 200)};
  rows[1].gigabytes_per_second.reset();
  compare_with_peers(rows);
  EXPECT_FALSE(rows[0].of_cub);
}

}  // namespace
}  // namespace warpfold::bench
