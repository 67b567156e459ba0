#include "bench/harness/rank_contest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness/across_ranks.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

class RankContest : public testing::Test {
 protected:
  mpi::Communicator communicator_{MPI_COMM_WORLD};
  RunOptions options_;
};

TEST_F(RankContest, TakesTheSlowestRanksTimeForTheBytesOfAll) {
  constexpr std::uint64_t bytes = 1'000'000;
  std::vector<RankContender> contenders(1);
  contenders[0].row.useful_bytes = bytes;
  contenders[0].run = [&] {
    if (communicator_.is_last()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  hold_rank_contest(contenders, 3, options_, communicator_);
  const Row& row = contenders[0].row;
  EXPECT_GE(row.seconds->least, 0.003);
  EXPECT_GE(row.seconds->most, row.seconds->median);
  const double all_bytes = static_cast<double>(bytes) * communicator_.size();
  EXPECT_EQ(row.gigabytes_per_second, all_bytes / row.seconds->median * 1e-9);
}

TEST_F(RankContest, RunsAllEquallyOftenInTheSameOrderEverywhere) {
  std::vector<RankContender> contenders(3);
  std::string order;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    contenders[i].run = [&, i] { order += static_cast<char>('a' + i); };
  hold_rank_contest(contenders, 4, options_, communicator_);
  for (const char each : {'a', 'b', 'c'})
    EXPECT_EQ(std::count(order.begin(), order.end(), each), 7);
  for (const std::string& others : mpi::gather_everywhere(order, communicator_))
    EXPECT_EQ(others, order);
}

TEST_F(RankContest, LeavesOutWhatCannotRun) {
  std::vector<RankContender> contenders(2);
  contenders[0].row.note = "not here";
  contenders[1].run = [] {};
  hold_rank_contest(contenders, 1, options_, communicator_);
  EXPECT_FALSE(contenders[0].row.seconds);
  EXPECT_TRUE(contenders[1].row.seconds);
}

TEST_F(RankContest, EndsOnAllRanksWithTheErrorOfOne) {
  std::vector<RankContender> contenders(2);
  int runs = 0;
  contenders[0].run = [&] {
    if (++runs == 2 && communicator_.is_last()) throw Error("the GPU is gone", "", "");
  };
  contenders[1].run = [] {};
  try {
    hold_rank_contest(contenders, 5, options_, communicator_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "the GPU is gone");
  }
  EXPECT_EQ(runs, 2);
}

TEST_F(RankContest, EndsOnAllRanksWhereItIsInterruptedOnOne) {
  const std::atomic<bool> interrupted = communicator_.is_last();
  options_.interrupted = &interrupted;
  std::vector<RankContender> contenders(1);
  contenders[0].run = [] {};
  EXPECT_THROW(hold_rank_contest(contenders, 3, options_, communicator_), Error);
}

TEST_F(RankContest, MergesWhatTheFirstRanksBring) {
  Accumulator mine = Accumulator::empty();
  mine.count = std::int64_t{1} << communicator_.rank();
  for (int ranks = 0; ranks <= communicator_.size(); ++ranks)
    EXPECT_EQ(merged_ranks(mine, ranks, communicator_).count, (std::int64_t{1} << ranks) - 1);
}

TEST_F(RankContest, IsRightWhereEveryRankIs) {
  EXPECT_EQ(check_of_ranks(true, communicator_), Check::right);
  EXPECT_EQ(check_of_ranks(!communicator_.is_last(), communicator_), Check::wrong);
}

}  // namespace
}  // namespace warpfold::bench
