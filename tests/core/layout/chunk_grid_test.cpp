#include "core/layout/chunk_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/random_grids.hpp"

namespace warpfold {
namespace {

using testing::ChunkedShape;
using testing::ChunkPlace;
using testing::Extents;

constexpr int random_grids = 300;

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
  EXPECT_EQ(BoxCut(grid, 3).boxes(), 0u);
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

/// Whether the elements of a run of chunks are all those between two corners.
bool is_box(const ChunkedShape& dataset, const std::vector<ChunkPlace>& places, ChunkRun run) {
  Extents low(dataset.shape.size(), ~std::uint64_t{0});
  Extents high(dataset.shape.size(), 0);
  std::uint64_t elements = 0;
  for (std::uint64_t index = 0; index < places.size(); ++index) {
    if (places[index].chunk < run.first || places[index].chunk >= run.end()) continue;
    const Extents coordinates = testing::coordinates_of(index, dataset.shape);
    for (std::size_t d = 0; d < low.size(); ++d) {
      low[d] = std::min(low[d], coordinates[d]);
      high[d] = std::max(high[d], coordinates[d]);
    }
    ++elements;
  }
  std::uint64_t between = 1;
  for (std::size_t d = 0; d < low.size(); ++d) between *= high[d] - low[d] + 1;
  return elements == between;
}

std::uint64_t elements_in(const std::vector<ChunkPlace>& places, ChunkRun run) {
  return static_cast<std::uint64_t>(std::count_if(
      places.begin(), places.end(),
      [&](const ChunkPlace& at) { return at.chunk >= run.first && at.chunk < run.end(); }));
}

TEST(BoxCut, CutsAllChunksIntoBoxes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < random_grids; ++i) {
    const ChunkedShape made = testing::random_shape(random);
    const ChunkGrid grid = chunk_grid(made.shape, made.chunk_shape);
    const ChunkedShape dataset = testing::unmerged(grid);
    const auto places = testing::places_of(dataset);
    const std::uint64_t max_chunks = 1 + random() % (grid.chunks() + 3);
    const BoxCut cut(grid, max_chunks);
    std::uint64_t next = 0;
    std::uint64_t max_elements = 0;
    for (std::uint64_t box = 0; box < cut.boxes(); ++box) {
      const ChunkRun run = cut.run(box);
      EXPECT_EQ(run.first, next);
      EXPECT_LE(run.count, max_chunks);
      EXPECT_TRUE(is_box(dataset, places, run));
      max_elements = std::max(max_elements, elements_in(places, run));
      next = run.end();
    }
    EXPECT_EQ(next, grid.chunks());
    EXPECT_EQ(cut.max_elements(), max_elements);
  }
}

TEST(BoxCut, SpansAsManyChunksAsItMay) {
  const ChunkGrid grid = chunk_grid(Extents{8, 8}, Extents{2, 3});
  EXPECT_EQ(BoxCut(grid, 1).boxes(), 12u);
  EXPECT_EQ(BoxCut(grid, 2).boxes(), 8u);
  EXPECT_EQ(BoxCut(grid, 3).boxes(), 4u);
  EXPECT_EQ(BoxCut(grid, 11).boxes(), 2u);
  EXPECT_EQ(BoxCut(grid, 12).boxes(), 1u);
}

}  // namespace
}  // namespace warpfold
