#include "core/layout/chunk_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/random_grids.hpp"

namespace warpfold {
namespace {

using testing::ChunkedShape;
using testing::ChunkPlace;
using testing::Extents;
using testing::random_grids;

ChunkedShape merged(const Extents& shape, const Extents& chunk_shape) {
  return testing::unmerged(chunk_grid(shape, chunk_shape));
}

TEST(ChunkGrid, MergesDimensionsThatEachChunkCovers) {
  EXPECT_EQ(merged({10, 6, 5}, {3, 6, 5}).shape, Extents{300});
  EXPECT_EQ(merged({10, 6, 5}, {3, 6, 5}).chunk_shape, Extents{90});
  EXPECT_EQ(merged({10, 6, 5}, {3, 2, 5}).shape, (Extents{10, 30}));
  EXPECT_EQ(merged({10, 6, 5}, {3, 2, 5}).chunk_shape, (Extents{3, 10}));
}

TEST(ChunkGrid, DropsExtentsOfOne) {
  EXPECT_EQ(merged({1, 7, 1}, {1, 3, 1}).shape, Extents{7});
  EXPECT_EQ(merged({1, 7, 1}, {1, 3, 1}).chunk_shape, Extents{3});
}

TEST(ChunkGrid, MergesRowsOfWholeChunks) {
  EXPECT_EQ(merged({4, 6}, {1, 3}).shape, Extents{24});
  EXPECT_EQ(merged({4, 7}, {1, 3}).shape, (Extents{4, 7}));
}

TEST(ChunkGrid, KeepsChunksLargerThanTheDataset) {
  EXPECT_EQ(merged({4, 6}, {2, 9}).shape, (Extents{4, 6}));
  EXPECT_EQ(chunk_grid(Extents{4}, Extents{9}).chunks(), 1u);
  EXPECT_EQ(chunk_grid(Extents{4}, Extents{9}).chunk_elements(), 9u);
}

TEST(ChunkGrid, AnEmptyDatasetHasNoChunks) {
  const ChunkGrid grid = chunk_grid(Extents{5, 0}, Extents{2, 2});
  EXPECT_EQ(grid.chunks(), 0u);
}

TEST(ChunkGrid, MergingMovesNoElement) {
  std::mt19937_64 random(1);
  for (int i = 0; i < random_grids; ++i) {
    const ChunkedShape dataset = testing::random_shape(random);
    const ChunkGrid grid = chunk_grid(dataset.shape, dataset.chunk_shape);
    EXPECT_LE(grid.dimensions, static_cast<int>(dataset.shape.size()));
    EXPECT_EQ(testing::places_of(testing::unmerged(grid)), testing::places_of(dataset));
  }
}

/// The chunks that hold elements of a range, one by one.
ChunkRun run_by_search(const std::vector<ChunkPlace>& places, ElementRange range) {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  for (std::uint64_t index = range.first; index < range.end(); ++index) {
    first = std::min(first, places[index].chunk);
    last = std::max(last, places[index].chunk);
  }
  return {first, last - first + 1};
}

TEST(ChunksOverlapping, AreTheFewestOfOneRun) {
  std::mt19937_64 random(2);
  for (int i = 0; i < random_grids; ++i) {
    const ChunkedShape dataset = testing::random_shape(random);
    const ChunkGrid grid = chunk_grid(dataset.shape, dataset.chunk_shape);
    const auto places = testing::places_of(dataset);
    for (int each = 0; each < 20; ++each) {
      const std::uint64_t first = random() % places.size();
      const ElementRange range{first, 1 + random() % (places.size() - first)};
      EXPECT_EQ(chunks_overlapping(grid, range), run_by_search(places, range));
    }
  }
  EXPECT_EQ(chunks_overlapping(chunk_grid(Extents{7}, Extents{2}), {3, 0}).count, 0u);
}

}  // namespace
}  // namespace warpfold
