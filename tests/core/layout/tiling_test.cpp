#include "core/layout/tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/random_grids.hpp"

namespace warpfold {
namespace {

using testing::ChunkedShape;
using testing::ChunkPlace;
using testing::Extents;
using testing::random_grids;

TEST(Tiling, TakesOneDimensionApartIntoRanges) {
  const Tiling tiling(1000, 300);
  EXPECT_EQ(tiling.items(), 4u);
  EXPECT_EQ(tiling.max_places(), 300u);
  EXPECT_EQ(tiling.range(0), (ElementRange{0, 300}));
  EXPECT_EQ(tiling.range(3), (ElementRange{900, 100}));
  EXPECT_EQ(tiling.range(4), (ElementRange{1000, 0}));
  EXPECT_EQ(Tiling(10, 300).max_places(), 10u);
}

TEST(Tiling, HasNoItemsWithoutElements) {
  EXPECT_EQ(Tiling(0, 100).items(), 0u);
  EXPECT_EQ(Tiling(0, 100).max_places(), 0u);
  EXPECT_EQ(tile_chunks(chunk_grid(Extents{5, 0}, Extents{2, 2}), 3).items(), 0u);
  EXPECT_EQ(Tiling(Extents{}, Extents{}).items(), 1u);
}

TEST(Tiling, HasEachElementInOneItem) {
  std::mt19937_64 random(6);
  for (int i = 0; i < random_grids; ++i) {
    const ChunkedShape made = testing::random_shape(random);
    const Tiling tiling(made.shape, made.chunk_shape);
    std::vector<int> times(made.elements());
    for (std::uint64_t item = 0; item < tiling.items(); ++item) {
      const Hyperslab region = tiling.region(item);
      EXPECT_LE(region.elements(), tiling.max_places());
      for_each_run(region, made.shape, [&](auto, std::uint64_t index, std::uint64_t count) {
        for (std::uint64_t each = 0; each < count; ++each) ++times[index + each];
      });
    }
    EXPECT_EQ(times, std::vector<int>(made.elements(), 1));
  }
}

TEST(ShareOf, IsEvenAndInOrder) {
  EXPECT_EQ(share_of(10, 3, 0), (ElementRange{0, 4}));
  EXPECT_EQ(share_of(10, 3, 1), (ElementRange{4, 3}));
  EXPECT_EQ(share_of(10, 3, 2), (ElementRange{7, 3}));
  EXPECT_EQ(share_of(10, 11, 10).count, 0u);
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

TEST(TileChunks, TakesAllChunksApartIntoBoxes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < random_grids; ++i) {
    const ChunkedShape made = testing::random_shape(random);
    const ChunkGrid grid = chunk_grid(made.shape, made.chunk_shape);
    const ChunkedShape dataset = testing::unmerged(grid);
    const auto places = testing::places_of(dataset);
    const std::uint64_t max_chunks = 1 + random() % (grid.chunks() + 3);
    const Tiling boxes = tile_chunks(grid, max_chunks);
    std::uint64_t next = 0;
    std::uint64_t max_elements = 0;
    for (std::uint64_t box = 0; box < boxes.items(); ++box) {
      const ChunkRun run = chunks_of(boxes, {box, 1});
      EXPECT_EQ(run.first, next);
      EXPECT_LE(run.count, max_chunks);
      EXPECT_TRUE(is_box(dataset, places, run));
      max_elements = std::max(max_elements, elements_in(places, run));
      next = run.end();
    }
    EXPECT_EQ(next, grid.chunks());
    EXPECT_EQ(max_elements_of(boxes, grid), max_elements);
    EXPECT_EQ(chunks_of(boxes, {0, boxes.items()}), (ChunkRun{0, grid.chunks()}));
  }
}

TEST(TileChunks, SpansAsManyChunksAsItMay) {
  const ChunkGrid grid = chunk_grid(Extents{8, 8}, Extents{2, 3});
  EXPECT_EQ(tile_chunks(grid, 1).items(), 12u);
  EXPECT_EQ(tile_chunks(grid, 2).items(), 8u);
  EXPECT_EQ(tile_chunks(grid, 3).items(), 4u);
  EXPECT_EQ(tile_chunks(grid, 11).items(), 2u);
  EXPECT_EQ(tile_chunks(grid, 12).items(), 1u);
}

}  // namespace
}  // namespace warpfold
