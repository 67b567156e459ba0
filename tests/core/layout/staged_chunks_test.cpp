#include "core/layout/staged_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/random_grids.hpp"
#include "core/layout/tiling.hpp"

namespace warpfold {
namespace {

using testing::ChunkedShape;
using testing::ChunkPlace;
using testing::Extents;

/// Where a target takes the element with flat index `index` of a grid.
std::uint64_t place_by(const ChunkTarget& target, const ChunkGrid& grid, std::uint64_t index) {
  const Extents coordinates = testing::coordinates_of(index, testing::unmerged(grid).shape);
  std::uint64_t place = 0;
  for (std::size_t d = 0; d < coordinates.size(); ++d) place += coordinates[d] * target.stride[d];
  return place - target.origin;
}

TEST(BoxTarget, PacksTheElementsOfItsChunksInFlatOrder) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    const ChunkedShape dataset = testing::random_shape(random);
    const ChunkGrid grid = chunk_grid(dataset.shape, dataset.chunk_shape);
    const auto places = testing::places_of(dataset);
    const Tiling boxes = tile_chunks(grid, 1 + random() % (grid.chunks() + 3));
    for (std::uint64_t box = 0; box < boxes.items(); ++box) {
      const ChunkRun run = chunks_of(boxes, {box, 1});
      const ChunkTarget target = box_target(grid, run);
      const BoxIndices indices = box_indices(grid, run);
      std::uint64_t next = 0;
      for (std::uint64_t index = 0; index < places.size(); ++index) {
        if (places[index].chunk < run.first || places[index].chunk >= run.end()) continue;
        EXPECT_EQ(place_by(target, grid, index), next);
        EXPECT_EQ(indices(next), index);
        ++next;
      }
      EXPECT_EQ(target.elements, next);
    }
  }
}

TEST(BoxIndices, AreConsecutiveWhereTheBoxIsARangeOfTheDataset) {
  const ChunkGrid grid = chunk_grid(Extents{8, 8}, Extents{2, 3});
  EXPECT_EQ(box_indices(grid, {3, 3}).dimensions, 0);
  EXPECT_EQ(box_indices(grid, {3, 3}).first, 16u);
  EXPECT_EQ(box_indices(grid, {3, 1}).dimensions, 2);
  EXPECT_EQ(box_indices(chunk_grid(Extents{9}, Extents{2}), {4, 1}).dimensions, 0);
}

TEST(FlatTarget, KeepsFlatOrderAndLeavesOutTheRest) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    const ChunkedShape dataset = testing::random_shape(random);
    const ChunkGrid grid = chunk_grid(dataset.shape, dataset.chunk_shape);
    const std::uint64_t elements = dataset.elements();
    const std::uint64_t first = random() % elements;
    const ElementRange range{first, 1 + random() % (elements - first)};
    const ChunkTarget target = flat_target(grid, range);
    EXPECT_EQ(target.elements, range.count);
    for (std::uint64_t index = 0; index < elements; ++index) {
      const bool inside = index >= range.first && index < range.end();
      const std::uint64_t place = place_by(target, grid, index);
      EXPECT_EQ(place < target.elements, inside);
      if (inside) {
        EXPECT_EQ(place, index - range.first);
      }
    }
  }
}

}  // namespace
}  // namespace warpfold
