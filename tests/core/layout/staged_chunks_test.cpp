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

/// Returns the place that a target gives to the element with flat index `index` of a grid.
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

TEST(StagedRun, IsFoundAgain) {
  const StagedChunk chunk{0, 40};
  for (const ElementRange places : {ElementRange{0, 7}, ElementRange{5, 12}, ElementRange{3, 1}}) {
    const StagedChunks chunks = staged_run(chunk, places);
    EXPECT_EQ(chunks.target.elements, places.end());
    const std::optional<StagedRun> run = run_of(chunks);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->source, 40u);
    EXPECT_EQ(run->place, places.first);
    EXPECT_EQ(run->elements, places.count);
    EXPECT_EQ(place_by(chunks.target, chunks.grid, 0), places.first);
  }
}

TEST(StagedRun, IsAWholePlainChunkOfAFlatArray) {
  const ChunkGrid grid = chunk_grid(Extents{25}, Extents{10});
  const auto found = [&](const StagedChunk& chunk, ElementRange range) {
    return run_of({grid, flat_target(grid, range), {&chunk, 1}});
  };
  const std::optional<StagedRun> last = found({2, 16}, {15, 10});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->source, 16u);
  EXPECT_EQ(last->place, 5u);
  EXPECT_EQ(last->elements, 5u);
  EXPECT_TRUE(found({1, 0}, {10, 10}));
  EXPECT_FALSE(found({1, 0}, {11, 10}));
  EXPECT_FALSE(found({1, 0}, {10, 9}));
  EXPECT_FALSE(found({1, 0, ChunkEncoding::shuffled}, {10, 10}));
  EXPECT_FALSE(found({1, 0, ChunkEncoding::unwritten}, {10, 10}));
  const StagedChunk two[] = {{0, 0}, {1, 80}};
  EXPECT_FALSE(run_of({grid, flat_target(grid, {0, 20}), two}));
  const StagedChunk one;
  const ChunkGrid rows = chunk_grid(Extents{4, 6}, Extents{2, 3});
  EXPECT_FALSE(run_of({rows, box_target(rows, {0, 1}), {&one, 1}}));
  const ChunkGrid steps = chunk_grid(Extents{10}, Extents{10}, {{0, 5, 2}});
  EXPECT_FALSE(run_of({steps, flat_target(steps, {0, 5}), {&one, 1}}));
}

}  // namespace
}  // namespace warpfold
