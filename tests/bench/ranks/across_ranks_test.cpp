#include "bench/harness/across_ranks.hpp"

#include <gtest/gtest.h>

namespace warpfold::bench {
namespace {

class AcrossRanks : public ::testing::Test {
 protected:
  /// Makes a row of bytes that pass in a second at 8 GB/s.
  Row row_of_this_rank() const {
    const double rank = communicator_.rank();
    Row row;
    row.useful_bytes = 8'000'000'000;
    row.seconds = Spread{1.0, 0.5 + rank, 2.0 + rank};
    row.check = Check::right;
    return row;
  }

  std::vector<Row> combined(Row row) const {
    std::vector<Row> rows{std::move(row)};
    combine_over_ranks(rows, communicator_);
    return rows;
  }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
};

TEST_F(AcrossRanks, TakesTheSlowestTimesAndTheSumOfRates) {
  const Row row = combined(row_of_this_rank()).front();
  const int last = communicator_.size() - 1;
  EXPECT_EQ(row.seconds->median, 1.0);
  EXPECT_EQ(row.seconds->minimum, 0.5 + last);
  EXPECT_EQ(row.seconds->maximum, 2.0 + last);
  EXPECT_EQ(row.gigabytes_per_second, 8.0 * communicator_.size());
  EXPECT_EQ(row.check, Check::right);
  EXPECT_FALSE(row.error_ulps);
}

TEST_F(AcrossRanks, IsWrongWhereOneRankIs) {
  Row mine = row_of_this_rank();
  if (communicator_.is_last()) mine.check = Check::wrong;
  EXPECT_EQ(combined(std::move(mine)).front().check, Check::wrong);
}

TEST_F(AcrossRanks, TakesTheGreatestError) {
  Row mine = row_of_this_rank();
  mine.error_ulps = communicator_.rank();
  EXPECT_EQ(combined(std::move(mine)).front().error_ulps, communicator_.size() - 1);
}

TEST_F(AcrossRanks, IsNotRunWhereOneRankRefuses) {
  Row mine = row_of_this_rank();
  if (communicator_.is_last()) {
    mine.seconds.reset();
    mine.note = "refused";
  }
  const Row row = combined(std::move(mine)).front();
  EXPECT_FALSE(row.seconds);
  EXPECT_FALSE(row.gigabytes_per_second);
  EXPECT_FALSE(row.note.empty());
}

TEST_F(AcrossRanks, MergesWhatTheFirstRanksBring) {
  Accumulator mine = Accumulator::empty();
  mine.count = std::int64_t{1} << communicator_.rank();
  for (int ranks = 0; ranks <= communicator_.size(); ++ranks)
    EXPECT_EQ(merged_ranks(mine, ranks, communicator_).count, (std::int64_t{1} << ranks) - 1);
}

TEST_F(AcrossRanks, IsRightWhereEveryRankIs) {
  EXPECT_EQ(check_of_ranks(true, communicator_), Check::right);
  EXPECT_EQ(check_of_ranks(!communicator_.is_last(), communicator_), Check::wrong);
}

}  // namespace
}  // namespace warpfold::bench
