#include "mpi/superstep_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/results/same_accumulators.hpp"
#include "core/values/ordered_key.hpp"
#include "mpi/numbers_of_ranks.hpp"

namespace warpfold::mpi {
namespace {

/// Blocks [first, end) of a made-up dataset, one element each: exact sums tell them apart.
Accumulator reduced_blocks(int first, int end) {
  Accumulator accumulator = Accumulator::empty();
  for (int block = first; block < end; ++block) {
    const double x = std::ldexp(block % 2 == 0 ? 1.0 : -1.0, 900 - 37 * block);
    ++accumulator.count;
    accumulator.sum.add(x);
    accumulator.minimum.merge({ordered_key(x), static_cast<std::uint64_t>(block), value_bits(x)});
  }
  accumulator.normalize();
  return accumulator;
}

void wait(SuperstepScan& scan) {
  while (!scan.done()) {
  }
}

class SuperstepScanIn : public ::testing::TestWithParam<ScanWay> {};

INSTANTIATE_TEST_SUITE_P(EachWay, SuperstepScanIn,
                         testing::Values(ScanWay::exscan, ScanWay::doubling));

TEST_P(SuperstepScanIn, BeforeIsTheReduceOfAllEarlierBlocks) {
  for_each_number_of_ranks([](const Communicator& ranks) {
    SuperstepScan scan(ranks, GetParam());
    for (int superstep = 0; superstep < 5; ++superstep) {
      const int block = superstep * ranks.size() + ranks.rank();
      scan.start(reduced_blocks(block, block + 1));
      wait(scan);
      EXPECT_FALSE(scan.any_missing());
      EXPECT_TRUE(same(scan.before(), reduced_blocks(0, block)));
    }
  });
}

TEST_P(SuperstepScanIn, GoesOnWhileOtherCollectivesDo) {
  const Communicator communicator(MPI_COMM_WORLD);
  SuperstepScan scan(communicator, GetParam());
  for (int superstep = 0; superstep < 20; ++superstep) {
    const int block = superstep * communicator.size() + communicator.rank();
    scan.start(reduced_blocks(block, block + 1));
    EXPECT_EQ(minimum({7}, communicator).front(), 7u);
    wait(scan);
    EXPECT_TRUE(same(scan.before(), reduced_blocks(0, block)));
  }
}

TEST_P(SuperstepScanIn, EveryRankLearnsThatOneHasNothing) {
  const Communicator communicator(MPI_COMM_WORLD);
  for (int missing = 0; missing < communicator.size(); ++missing) {
    SuperstepScan scan(communicator, GetParam());
    scan.start(reduced_blocks(0, 1));
    wait(scan);
    EXPECT_FALSE(scan.any_missing());
    scan.start(communicator.rank() == missing ? std::nullopt : std::optional(reduced_blocks(1, 2)));
    wait(scan);
    EXPECT_TRUE(scan.any_missing());
  }
}

TEST_P(SuperstepScanIn, WaitsForWhatIsUnderWayWhenItGoes) {
  const Communicator communicator(MPI_COMM_WORLD);
  SuperstepScan scan(communicator, GetParam());
  EXPECT_FALSE(scan.under_way());
  scan.start(reduced_blocks(0, 1));
  EXPECT_TRUE(scan.under_way());
}

}  // namespace
}  // namespace warpfold::mpi
