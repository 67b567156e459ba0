#include "bench/ingest/ingest_benchmark.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

class IngestBenchmark : public testing::Test {
 protected:
  mpi::Communicator communicator_{MPI_COMM_WORLD};
  RunOptions options_;
};

TEST_F(IngestBenchmark, TakesTheSlowestRanksTimeForAllBytes) {
  std::vector<IngestCandidate> candidates(1);
  candidates[0].row.useful_bytes = static_cast<std::uint64_t>(communicator_.size()) * 8'000'000'000;
  candidates[0].run = [&] { return 1.0 + communicator_.rank(); };
  hold_ingest_benchmark(candidates, 3, options_, communicator_);
  const Row& row = candidates[0].row;
  EXPECT_EQ(row.seconds->median, communicator_.size());
  EXPECT_EQ(row.seconds->minimum, communicator_.size());
  EXPECT_EQ(row.gigabytes_per_second, 8.0);
  EXPECT_EQ(row.check, Check::none);
}

TEST_F(IngestBenchmark, RunsEachOnceMoreThanItCounts) {
  std::vector<int> runs(3), prepared(3);
  std::vector<IngestCandidate> candidates(3);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].prepare = [&, i] { ++prepared[i]; };
    candidates[i].run = [&, i] {
      ++runs[i];
      return 1.0;
    };
  }
  hold_ingest_benchmark(candidates, 4, options_, communicator_);
  EXPECT_EQ(runs, std::vector<int>(3, 5));
  EXPECT_EQ(prepared, runs);
}

TEST_F(IngestBenchmark, IsWrongOnEveryRankWhereTheRootSaysSoOnce) {
  std::vector<IngestCandidate> candidates(1);
  int run = 0;
  candidates[0].run = [] { return 1.0; };
  candidates[0].is_right = [&] { return !communicator_.is_root() || ++run != 2; };
  hold_ingest_benchmark(candidates, 3, options_, communicator_);
  EXPECT_EQ(candidates[0].row.check, Check::wrong);
}

TEST_F(IngestBenchmark, EndsOnAllRanksWhereItIsInterruptedOnOne) {
  const std::atomic<bool> interrupted = communicator_.is_last();
  options_.interrupted = &interrupted;
  std::vector<IngestCandidate> candidates(1);
  candidates[0].run = [] { return 1.0; };
  EXPECT_THROW(hold_ingest_benchmark(candidates, 3, options_, communicator_), Error);
}

}  // namespace
}  // namespace warpfold::bench
