#include "mpi/superstep_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/values/ordered_key.hpp"

namespace warpfold::mpi {
namespace {

/// Blocks [first, end) of a made-up dataset, one element each: exact sums tell them apart.
Accumulator reduced(int first, int end) {
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

bool equal(const Accumulator& a, const Accumulator& b) {
  return std::memcmp(&a, &b, sizeof(Accumulator)) == 0;
}

void wait(SuperstepScan& scan) {
  while (!scan.done()) {
  }
}

TEST(SuperstepScan, BeforeIsTheReduceOfAllEarlierBlocks) {
  const Communicator communicator(MPI_COMM_WORLD);
  SuperstepScan scan(communicator);
  for (int superstep = 0; superstep < 5; ++superstep) {
    const int block = superstep * communicator.size() + communicator.rank();
    scan.start(reduced(block, block + 1));
    wait(scan);
    EXPECT_FALSE(scan.any_missing());
    EXPECT_TRUE(equal(scan.before(), reduced(0, block)));
  }
}

TEST(SuperstepScan, EveryRankLearnsThatOneHasNothing) {
  const Communicator communicator(MPI_COMM_WORLD);
  for (int missing = 0; missing < communicator.size(); ++missing) {
    SuperstepScan scan(communicator);
    scan.start(reduced(0, 1));
    wait(scan);
    EXPECT_FALSE(scan.any_missing());
    scan.start(communicator.rank() == missing ? std::nullopt : std::optional(reduced(1, 2)));
    wait(scan);
    EXPECT_TRUE(scan.any_missing());
  }
}

TEST(SuperstepScan, WaitsForWhatIsUnderWayWhenItGoes) {
  const Communicator communicator(MPI_COMM_WORLD);
  SuperstepScan scan(communicator);
  EXPECT_FALSE(scan.under_way());
  scan.start(reduced(0, 1));
  EXPECT_TRUE(scan.under_way());
}

}  // namespace
}  // namespace warpfold::mpi
