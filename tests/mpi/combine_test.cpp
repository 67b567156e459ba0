#include "mpi/combine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "core/results/same_accumulators.hpp"
#include "core/values/ordered_key.hpp"
#include "mpi/numbers_of_ranks.hpp"

namespace warpfold::mpi {
namespace {

/// Rank `rank`'s elements of a made-up dataset: the contents of each depend on it alone.
std::vector<double> elements_of(int rank) {
  const double r = rank;
  return {1e308, -1e308 * (rank % 3), 5e-324 * (r + 1), -r, 0.1 * r, rank % 2 == 0 ? 0.0 : -0.0};
}

Accumulator reduced(int first_rank, int end_rank) {
  Accumulator accumulator = Accumulator::empty();
  for (int rank = first_rank; rank < end_rank; ++rank) {
    std::uint64_t index = static_cast<std::uint64_t>(rank) * 100;
    for (const double x : elements_of(rank)) {
      ++accumulator.count;
      accumulator.sum.add(x);
      accumulator.absolute.add(x < 0 ? -x : x);
      accumulator.squares.add_square(x);
      accumulator.minimum.merge({ordered_key(x), index, value_bits(x)});
      accumulator.maximum.merge({~ordered_key(x), index, value_bits(x)});
      ++index;
    }
    if (rank >= 2) {
      ++accumulator.nan_count;
      accumulator.first_nan = std::min(accumulator.first_nan, index);
    }
    accumulator.positive_infinities += rank;
    accumulator.negative_infinities += 2 * rank;
  }
  accumulator.normalize();
  return accumulator;
}

Accumulator mine(const Communicator& communicator) {
  return reduced(communicator.rank(), communicator.rank() + 1);
}

Accumulator full_digits() {
  Accumulator full = Accumulator::empty();
  for (std::int64_t& limb : full.sum.limb) limb = 0xffffffff;
  full.sum.limb[ExactSum::limbs - 1] = 0;
  return full;
}

TEST(Combine, ReduceEqualsOneReduceOfEverything) {
  const Communicator communicator(MPI_COMM_WORLD);
  const Accumulator whole = reduce(mine(communicator), communicator);
  EXPECT_TRUE(!communicator.is_root() || same(whole, reduced(0, communicator.size())));
}

TEST(Combine, ReduceEverywhereGivesEveryRankTheSame) {
  const Communicator communicator(MPI_COMM_WORLD);
  const auto whole = reduce_everywhere(mine(communicator), communicator);
  ASSERT_TRUE(whole.has_value());
  EXPECT_TRUE(same(*whole, reduced(0, communicator.size())));
}

TEST(Combine, OneRankWithoutContentsLeavesNothingEverywhere) {
  const Communicator communicator(MPI_COMM_WORLD);
  for (int missing = 0; missing < communicator.size(); ++missing) {
    std::optional<Accumulator> contents = mine(communicator);
    if (communicator.rank() == missing) contents.reset();
    EXPECT_FALSE(reduce_everywhere(contents, communicator).has_value());
  }
}

class CombineIn : public ::testing::TestWithParam<ScanWay> {};

INSTANTIATE_TEST_SUITE_P(EachWay, CombineIn, testing::Values(ScanWay::exscan, ScanWay::doubling));

TEST_P(CombineIn, ExclusiveScanEqualsTheReduceOfAllLowerRanks) {
  for_each_number_of_ranks([](const Communicator& ranks) {
    const Accumulator before = exclusive_scan(mine(ranks), ranks, GetParam());
    EXPECT_TRUE(same(before, reduced(0, ranks.rank())));
  });
}

TEST_P(CombineIn, ExclusiveScansInARowDontMeet) {
  const Communicator communicator(MPI_COMM_WORLD);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const int first = repeat * communicator.size();
    const int block = first + communicator.rank();
    const Accumulator before = exclusive_scan(reduced(block, block + 1), communicator, GetParam());
    EXPECT_TRUE(same(before, reduced(first, block)));
  }
}

TEST_P(CombineIn, DigitsThatAllCarryStayExactInAScan) {
  const Communicator communicator(MPI_COMM_WORLD);
  const Accumulator full = full_digits();
  Accumulator expected = Accumulator::empty();
  for (int rank = 0; rank < communicator.rank(); ++rank) expected.sum.add(full.sum);
  expected.normalize();
  EXPECT_TRUE(same(exclusive_scan(full, communicator, GetParam()), expected));
}

TEST_P(CombineIn, ExclusiveSumIsThatOfAllLowerRanks) {
  const bool doubles = GetParam() == ScanWay::doubling;
  ::setenv("WARPFOLD_DOUBLING_RANKS", doubles ? "1" : "1000", 1);
  for_each_number_of_ranks([](const Communicator& ranks) {
    const std::uint64_t huge = std::uint64_t{1} << 40;
    const auto rank = static_cast<std::uint64_t>(ranks.rank());
    EXPECT_EQ(exclusive_sum(huge + rank, ranks), rank * huge + rank * (rank - 1) / 2);
    EXPECT_EQ(ranks.scan_way(), GetParam());
  });
  ::unsetenv("WARPFOLD_DOUBLING_RANKS");
}

TEST(Combine, DigitsThatAllCarryStayExact) {
  const Communicator communicator(MPI_COMM_WORLD);
  const Accumulator full = full_digits();
  Accumulator expected = Accumulator::empty();
  for (int rank = 0; rank < communicator.size(); ++rank) expected.sum.add(full.sum);
  expected.normalize();
  const Accumulator whole = reduce(full, communicator);
  EXPECT_TRUE(!communicator.is_root() || same(whole, expected));
}

}  // namespace
}  // namespace warpfold::mpi
