#include "core/layout/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace warpfold {
namespace {

constexpr std::uint64_t sizes[] = {0,
                                   1,
                                   2,
                                   69,
                                   4095,
                                   4096,
                                   4097,
                                   1'000'003,
                                   (std::uint64_t{1} << 33) + 1,
                                   (std::uint64_t{1} << 63) - 1,
                                   std::uint64_t{1} << 63,
                                   std::numeric_limits<std::uint64_t>::max()};

TEST(Partition, CoversEveryElementOnceInRankOrder) {
  for (const std::uint64_t elements : sizes)
    for (const std::uint64_t granule : {1u, 7u, 4096u})
      for (std::uint64_t ranks = 1; ranks <= 70; ++ranks) {
        std::uint64_t next = 0;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
          const ElementRange range = partition(elements, granule, ranks, rank);
          ASSERT_EQ(range.first, next) << elements << ' ' << granule << ' ' << ranks << ' ' << rank;
          next = range.end();
          ASSERT_TRUE(next == elements || next % granule == 0);
        }
        ASSERT_EQ(next, elements) << granule << ' ' << ranks;
      }
}

TEST(Partition, IsBalancedToAGranule) {
  for (const std::uint64_t elements : sizes)
    for (const std::uint64_t granule : {1u, 7u, 4096u})
      for (std::uint64_t ranks = 1; ranks <= 70; ++ranks) {
        std::uint64_t minimum = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t maximum = 0;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
          const std::uint64_t granules =
              ceil_div(partition(elements, granule, ranks, rank).count, granule);
          minimum = std::min(minimum, granules);
          maximum = std::max(maximum, granules);
        }
        ASSERT_LE(maximum - minimum, 1u) << elements << ' ' << granule << ' ' << ranks;
      }
}

TEST(Partition, KnownParts) {
  EXPECT_EQ(partition(10, 1, 3, 0), (ElementRange{0, 4}));
  EXPECT_EQ(partition(10, 1, 3, 1), (ElementRange{4, 3}));
  EXPECT_EQ(partition(10, 1, 3, 2), (ElementRange{7, 3}));
  EXPECT_EQ(partition(4097, 4096, 2, 0), (ElementRange{0, 4096}));
  EXPECT_EQ(partition(4097, 4096, 2, 1), (ElementRange{4096, 1}));
  EXPECT_EQ(partition(4097, 4096, 3, 2), (ElementRange{4097, 0}));
}

TEST(BlockRange, CutsBlocksOfEqualSizeButTheLast) {
  EXPECT_EQ(block_range(10, 4, 0), (ElementRange{0, 4}));
  EXPECT_EQ(block_range(10, 4, 2), (ElementRange{8, 2}));
  EXPECT_EQ(block_range(8, 4, 1), (ElementRange{4, 4}));
  EXPECT_EQ(block_range(8, 4, 2), (ElementRange{8, 0}));
  EXPECT_EQ(block_range(0, 4, 0), (ElementRange{0, 0}));
}

TEST(BlockRange, DoesNotOverflow) {
  constexpr std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(block_range(10, 4, maximum), (ElementRange{10, 0}));
  EXPECT_EQ(block_range(maximum, 4096, maximum / 4096), (ElementRange{maximum - 4095, 4095}));
  EXPECT_EQ(block_range(maximum, 1, maximum), (ElementRange{maximum, 0}));
}

TEST(CeilDiv, RoundsUp) {
  EXPECT_EQ(ceil_div(0, 5), 0u);
  EXPECT_EQ(ceil_div(5, 5), 1u);
  EXPECT_EQ(ceil_div(6, 5), 2u);
  EXPECT_EQ(ceil_div(std::numeric_limits<std::uint64_t>::max(), 2), std::uint64_t{1} << 63);
  EXPECT_EQ(round_up(0, 8), 0u);
  EXPECT_EQ(round_up(8, 8), 8u);
  EXPECT_EQ(round_up(9, 8), 16u);
}

}  // namespace
}  // namespace warpfold
