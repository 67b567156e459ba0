#include "pipeline/regions/chunk_rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

ChunkRows rows_of(const Extents& shape, const Extents& chunk) {
  return ChunkRows(chunk_grid(shape, chunk));
}

std::vector<ElementRange> ranges(const Tiling& blocks) {
  std::vector<ElementRange> all;
  for (std::uint64_t block = 0; block < blocks.items(); ++block) all.push_back(blocks.range(block));
  return all;
}

TEST(ChunkRows, ARowIsAllChunksThatShareTheirFirstIndex) {
  EXPECT_EQ(rows_of({100, 60}, {8, 16}).row_elements(), 480u);
  EXPECT_EQ(rows_of({5, 60}, {8, 16}).row_elements(), 300u);
  EXPECT_EQ(rows_of({1000}, {16}).row_elements(), 16u);
}

TEST(ChunkRows, OfChunksThatAreOneElementThickARowIsLess) {
  EXPECT_EQ(rows_of({9, 100, 60}, {1, 8, 16}).row_elements(), 480u);
  EXPECT_EQ(rows_of({9, 100, 60}, {1, 1, 16}).row_elements(), 16u);
}

TEST(ChunkRows, BlocksAreAboutEqual) {
  EXPECT_EQ(ranges(*rows_of({10, 6}, {2, 4}).blocks(47)),
            (std::vector<ElementRange>{{0, 36}, {36, 24}}));
  EXPECT_EQ(ranges(*rows_of({100}, {10}).blocks(69)),
            (std::vector<ElementRange>{{0, 50}, {50, 50}}));
}

TEST(ChunkRows, BlocksAreMultiplesOfAUnitWhereThatFits) {
  EXPECT_EQ(ranges(*rows_of({100}, {10}).blocks(60, 20)),
            (std::vector<ElementRange>{{0, 60}, {60, 40}}));
  EXPECT_EQ(ranges(*rows_of({100}, {10}).blocks(50, 20)),
            (std::vector<ElementRange>{{0, 40}, {40, 40}, {80, 20}}));
  EXPECT_EQ(ranges(*rows_of({100}, {10}).blocks(50, 4096)),
            (std::vector<ElementRange>{{0, 50}, {50, 50}}));
}

TEST(ChunkRows, RowsThatAreTooLargeMakeNoBlocks) {
  EXPECT_FALSE(rows_of({100, 60}, {8, 16}).blocks(479).has_value());
  EXPECT_TRUE(rows_of({100, 60}, {8, 16}).blocks(480).has_value());
  EXPECT_FALSE(rows_of({2, std::uint64_t{1} << 22}, {2, 1}).blocks(~std::uint64_t{0}).has_value());
}

TEST(ChunkRows, EveryBlockHasItsElementsAndChunksInOrder) {
  std::mt19937_64 random(3);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int i = 0; i < 2000; ++i) {
    Extents shape;
    Extents chunk;
    const std::uint64_t dimensions = 1 + below(4);
    for (std::uint64_t d = 0; d < dimensions; ++d) {
      shape.push_back(1 + below(dimensions == 1 ? 500 : 12));
      chunk.push_back(below(3) == 0 ? 1 : 1 + below(shape.back()));
    }
    const ChunkGrid grid = chunk_grid(shape, chunk);
    const ChunkRows rows(grid);
    const std::uint64_t most = rows.row_elements() + below(300);
    const auto blocks = rows.blocks(most, 1 + below(20));
    ASSERT_TRUE(blocks.has_value());
    std::uint64_t elements = 0;
    std::uint64_t chunks = 0;
    for (std::uint64_t block = 0; block < blocks->items(); ++block) {
      const ElementRange range = blocks->range(block);
      const ChunkRun run = rows.chunks_of(*blocks, block);
      ASSERT_EQ(range.first, elements);
      ASSERT_EQ(run.first, chunks);
      ASSERT_LE(range.count, most);
      ASSERT_EQ(chunks_overlapping(grid, range), run);
      elements = range.end();
      chunks = run.end();
    }
    ASSERT_EQ(elements, product(shape));
    ASSERT_EQ(chunks, grid.chunks());
    ASSERT_EQ(rows.chunks_of(*blocks, blocks->items()).count, 0u);
  }
}

}  // namespace
}  // namespace warpfold::pipeline
