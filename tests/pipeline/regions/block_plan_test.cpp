#include "pipeline/regions/block_plan.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/scan/scan_arithmetic.hpp"
#include "pipeline/datasets/described_dataset.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t tile = scan_order::tile_elements;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

BlockPlan plan_of(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk_shape,
                  BlockResources resources = {}) {
  io::DatasetInfo info =
      described_dataset(std::move(shape), std::move(chunk_shape), ReadPath::chunk);
  info.format.type = ElementType::f64;
  return plan_blocks(info, sizeof(double), resources);
}

TEST(BlockPlan, BlocksHaveManyPieces) {
  const BlockPlan cpu = plan_of({std::uint64_t{1} << 40}, {});
  EXPECT_EQ(cpu.piece_elements, mebibyte / 8);
  EXPECT_EQ(cpu.block_elements, 16 * cpu.piece_elements);
  const BlockPlan gpu = plan_of({std::uint64_t{1} << 40}, {}, {.on_gpu = true});
  EXPECT_EQ(gpu.block_elements, 16 * gpu.piece_elements);
}

TEST(BlockPlan, ASlabIsAPiece) {
  EXPECT_EQ(plan_of({std::uint64_t{1} << 40}, {}, {.slab_bytes = 3 * mebibyte}).piece_elements,
            3 * mebibyte / 8);
  EXPECT_EQ(plan_of({1000000}, {}, {.slab_bytes = 4096}).piece_elements, tile);
}

TEST(BlockPlan, EachRankHasSeveralBlocksOfASmallDataset) {
  const BlockPlan plan = plan_of({160 * tile}, {}, {.ranks = 4, .slab_bytes = 4096});
  EXPECT_EQ(plan.block_elements, 10 * tile);
}

TEST(BlockPlan, NoBlockIsLargerThanARanksShare) {
  EXPECT_EQ(plan_of({10 * tile}, {}, {.ranks = 3}).block_elements, 4 * tile);
  EXPECT_EQ(plan_of({1}, {}, {.ranks = 3}).block_elements, tile);
}

TEST(BlockPlan, BlocksAreWholeChunkRowsWhereTheseAreWholeTiles) {
  const std::uint64_t row = 3 * tile;
  const BlockPlan plan = plan_of({100000, 1024}, {12, 100});
  EXPECT_EQ(plan.granule, row);
  EXPECT_EQ(plan.block_elements % row, 0u);
}

TEST(BlockPlan, BlocksHoldManyChunkRowsThatAreNoWholeTiles) {
  const std::uint64_t row = 1000001;
  const BlockPlan plan = plan_of({100000, row}, {1, 1000});
  EXPECT_EQ(plan.block_elements % tile, 0u);
  EXPECT_GE(plan.block_elements, 8 * row);
}

TEST(BlockPlan, BlocksOfHugeChunkRowsAreLimited) {
  const BlockPlan plan = plan_of({1000000, 1000000}, {1000, 1000});
  EXPECT_EQ(plan.block_elements, 256 * mebibyte / 8);
}

TEST(BlockPlan, LessMemoryMakesSmallerBlocksOfWholeGranules) {
  const BlockPlan plan{tile, 12 * tile, 3 * tile};
  EXPECT_EQ(plan.limited_to(20 * tile).block_elements, 12 * tile);
  EXPECT_EQ(plan.limited_to(10 * tile).block_elements, 9 * tile);
  EXPECT_EQ(plan.limited_to(2 * tile).block_elements, 2 * tile);
}

constexpr std::uint64_t much_memory = std::uint64_t{1} << 40;

BlockPlan fitted(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk, int threads,
                 std::uint64_t memory = much_memory, BlockResources resources = {}) {
  const BlockPlan plan = plan_of(shape, {}, resources);
  return fit_to_output(plan, ChunkRows(chunk_grid(shape, chunk)), product(shape), sizeof(double),
                       memory, threads, resources);
}

TEST(BlockPlan, BlocksOfChunkedOutputsAreWholeRowsOfChunks) {
  EXPECT_EQ(fitted({100000, 1001}, {7, 100}, 1).block_elements % (7 * 1001), 0u);
  EXPECT_EQ(fitted({3, 1001, 1001}, {1, 1001, 1001}, 1).block_elements % (1001 * 1001), 0u);
}

TEST(BlockPlan, BlocksOfChunkedOutputsHaveChunksForAllThreads) {
  const std::uint64_t chunk = 8 * 1024 * 32;
  const auto chunks = [&](int threads, std::uint64_t memory) {
    return fitted({1 << 20, 1024, 32}, {8, 1024, 32}, threads, memory).block_elements / chunk;
  };
  EXPECT_EQ(chunks(1, much_memory), 8u);
  EXPECT_EQ(chunks(64, much_memory), 64u);
  EXPECT_EQ(chunks(64, 16 * chunk * sizeof(double)), 16u);
  EXPECT_EQ(chunks(1000, much_memory), 128u);
}

TEST(BlockPlan, RowsOfChunksThatAreTooLargeLeaveThePlanAsItIs) {
  const std::vector<std::uint64_t> shape{100, 4 * mebibyte};
  EXPECT_EQ(fitted(shape, {9, 1024}, 1).block_elements, plan_of(shape, {}).block_elements);
  EXPECT_EQ(fitted(shape, {8, 1024}, 1).block_elements, 32 * mebibyte);
}

TEST(BlocksOf, RanksTakeThemInTurns) {
  const Tiling blocks(10, 3);
  EXPECT_EQ(blocks_of(blocks, BlockOrder::in_turns, 2, 1),
            (std::vector<ElementRange>{{3, 3}, {9, 1}}));
  EXPECT_EQ(blocks_of({9, 3}, BlockOrder::in_turns, 2, 1),
            (std::vector<ElementRange>{{3, 3}, {9, 0}}));
}

TEST(BlocksOf, RanksHaveConsecutiveOnes) {
  const Tiling blocks(10, 3);
  EXPECT_EQ(blocks_of(blocks, BlockOrder::consecutive, 3, 0),
            (std::vector<ElementRange>{{0, 3}, {3, 3}}));
  EXPECT_EQ(blocks_of(blocks, BlockOrder::consecutive, 3, 2), (std::vector<ElementRange>{{9, 1}}));
  EXPECT_TRUE(blocks_of(blocks, BlockOrder::consecutive, 5, 4).empty());
}

}  // namespace
}  // namespace warpfold::pipeline
