#include "bench/harness/rank_benchmark.hpp"

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

class RankBenchmark : public testing::Test {
 protected:
  mpi::Communicator communicator_{MPI_COMM_WORLD};
  RunOptions options_;
};

TEST_F(RankBenchmark, TakesTheSlowestRanksTimeForTheBytesOfAll) {
  constexpr std::uint64_t bytes = 1'000'000;
  std::vector<RankCandidate> candidates(1);
  candidates[0].row.useful_bytes = bytes;
  candidates[0].run = [&] {
    if (communicator_.is_last()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  hold_rank_benchmark(candidates, 3, options_, communicator_);
  const Row& row = candidates[0].row;
  EXPECT_GE(row.seconds->minimum, 0.003);
  EXPECT_GE(row.seconds->maximum, row.seconds->median);
  const double all_bytes = static_cast<double>(bytes) * communicator_.size();
  EXPECT_EQ(row.gigabytes_per_second, all_bytes / row.seconds->median * 1e-9);
}

TEST_F(RankBenchmark, RunsAllEquallyOftenInTheSameOrderEverywhere) {
  std::vector<RankCandidate> candidates(3);
  std::string order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    candidates[i].run = [&, i] { order += static_cast<char>('a' + i); };
  hold_rank_benchmark(candidates, 4, options_, communicator_);
  for (const char each : {'a', 'b', 'c'})
    EXPECT_EQ(std::count(order.begin(), order.end(), each), 7);
  for (const std::string& others : mpi::gather_everywhere(order, communicator_))
    EXPECT_EQ(others, order);
}

TEST_F(RankBenchmark, LeavesOutWhatCannotRun) {
  std::vector<RankCandidate> candidates(2);
  candidates[0].row.note = "not here";
  candidates[1].run = [] {};
  hold_rank_benchmark(candidates, 1, options_, communicator_);
  EXPECT_FALSE(candidates[0].row.seconds);
  EXPECT_TRUE(candidates[1].row.seconds);
}

TEST_F(RankBenchmark, EndsOnAllRanksWithTheErrorOfOne) {
  std::vector<RankCandidate> candidates(2);
  int runs = 0;
  candidates[0].run = [&] {
    if (++runs == 2 && communicator_.is_last()) throw Error("the GPU is gone", "", "");
  };
  candidates[1].run = [] {};
  try {
    hold_rank_benchmark(candidates, 5, options_, communicator_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "the GPU is gone");
  }
  EXPECT_EQ(runs, 2);
}

TEST_F(RankBenchmark, EndsOnAllRanksWhereItIsInterruptedOnOne) {
  const std::atomic<bool> interrupted = communicator_.is_last();
  options_.interrupted = &interrupted;
  std::vector<RankCandidate> candidates(1);
  candidates[0].run = [] {};
  EXPECT_THROW(hold_rank_benchmark(candidates, 3, options_, communicator_), Error);
}

TEST_F(RankBenchmark, MergesWhatTheFirstRanksBring) {
  Accumulator mine = Accumulator::empty();
  mine.count = std::int64_t{1} << communicator_.rank();
  for (int ranks = 0; ranks <= communicator_.size(); ++ranks)
    EXPECT_EQ(merged_ranks(mine, ranks, communicator_).count, (std::int64_t{1} << ranks) - 1);
}

TEST_F(RankBenchmark, IsRightWhereEveryRankIs) {
  EXPECT_EQ(check_of_ranks(true, communicator_), Check::right);
  EXPECT_EQ(check_of_ranks(!communicator_.is_last(), communicator_), Check::wrong);
}

}  // namespace
}  // namespace warpfold::bench
