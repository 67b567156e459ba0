#include "bench/ingest/ingest_contest.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

class IngestContest : public testing::Test {
 protected:
  mpi::Communicator communicator_{MPI_COMM_WORLD};
  RunOptions options_;
};

TEST_F(IngestContest, TakesTheSlowestRanksTimeForAllBytes) {
  std::vector<IngestContender> contenders(1);
  contenders[0].row.useful_bytes = static_cast<std::uint64_t>(communicator_.size()) * 8'000'000'000;
  contenders[0].run = [&] { return 1.0 + communicator_.rank(); };
  hold_ingest_contest(contenders, 3, options_, communicator_);
  const Row& row = contenders[0].row;
  EXPECT_EQ(row.seconds->median, communicator_.size());
  EXPECT_EQ(row.seconds->least, communicator_.size());
  EXPECT_EQ(row.gigabytes_per_second, 8.0);
  EXPECT_EQ(row.check, Check::none);
}

TEST_F(IngestContest, RunsEachOnceMoreThanItCounts) {
  std::vector<int> runs(3), prepared(3);
  std::vector<IngestContender> contenders(3);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    contenders[i].prepare = [&, i] { ++prepared[i]; };
    contenders[i].run = [&, i] {
      ++runs[i];
      return 1.0;
    };
  }
  hold_ingest_contest(contenders, 4, options_, communicator_);
  EXPECT_EQ(runs, std::vector<int>(3, 5));
  EXPECT_EQ(prepared, runs);
}

TEST_F(IngestContest, IsWrongOnEveryRankWhereTheRootSaysSoOnce) {
  std::vector<IngestContender> contenders(1);
  int run = 0;
  contenders[0].run = [] { return 1.0; };
  contenders[0].is_right = [&] { return !communicator_.is_root() || ++run != 2; };
  hold_ingest_contest(contenders, 3, options_, communicator_);
  EXPECT_EQ(contenders[0].row.check, Check::wrong);
}

TEST_F(IngestContest, EndsOnAllRanksWhereItIsInterruptedOnOne) {
  const std::atomic<bool> interrupted = communicator_.is_last();
  options_.interrupted = &interrupted;
  std::vector<IngestContender> contenders(1);
  contenders[0].run = [] { return 1.0; };
  EXPECT_THROW(hold_ingest_contest(contenders, 3, options_, communicator_), Error);
}

}  // namespace
}  // namespace warpfold::bench
