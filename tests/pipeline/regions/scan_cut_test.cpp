#include "pipeline/regions/scan_cut.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t tile = scan_tile_elements;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

ScanCut cut_of(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk_shape,
               ScanPlacement place = {}) {
  io::DatasetInfo info;
  info.format.type = ElementType::f64;
  info.shape = std::move(shape);
  info.stored_shape = info.shape;
  info.elements = 1;
  for (const std::uint64_t extent : info.shape) info.elements *= extent;
  info.chunk_shape = std::move(chunk_shape);
  ScanSpec spec;
  spec.input = info.format;
  spec.output = ElementType::f64;
  return cut_for_scan(info, spec, place);
}

TEST(ScanCut, BlocksHaveManyPieces) {
  const ScanCut cpu = cut_of({std::uint64_t{1} << 40}, {});
  EXPECT_EQ(cpu.piece_elements, mebibyte / 8);
  EXPECT_EQ(cpu.block_elements, 16 * cpu.piece_elements);
  const ScanCut gpu = cut_of({std::uint64_t{1} << 40}, {}, {.on_gpu = true});
  EXPECT_EQ(gpu.block_elements, 16 * gpu.piece_elements);
}

TEST(ScanCut, ASlabIsAPiece) {
  EXPECT_EQ(cut_of({std::uint64_t{1} << 40}, {}, {.slab_bytes = 3 * mebibyte}).piece_elements,
            3 * mebibyte / 8);
  EXPECT_EQ(cut_of({1000000}, {}, {.slab_bytes = 4096}).piece_elements, tile);
}

TEST(ScanCut, EachRankHasSeveralBlocksOfASmallDataset) {
  const ScanCut cut = cut_of({160 * tile}, {}, {.ranks = 4, .slab_bytes = 4096});
  EXPECT_EQ(cut.block_elements, 10 * tile);
}

TEST(ScanCut, NoBlockIsLargerThanARanksShare) {
  EXPECT_EQ(cut_of({10 * tile}, {}, {.ranks = 3}).block_elements, 4 * tile);
  EXPECT_EQ(cut_of({1}, {}, {.ranks = 3}).block_elements, tile);
}

TEST(ScanCut, BlocksAreWholeChunkRowsWhereTheseAreWholeTiles) {
  const std::uint64_t row = 3 * tile;
  const ScanCut cut = cut_of({100000, 1024}, {12, 100});
  EXPECT_EQ(cut.granule, row);
  EXPECT_EQ(cut.block_elements % row, 0u);
}

TEST(ScanCut, BlocksHoldManyChunkRowsThatAreNoWholeTiles) {
  const std::uint64_t row = 1000001;
  const ScanCut cut = cut_of({100000, row}, {1, 1000});
  EXPECT_EQ(cut.block_elements % tile, 0u);
  EXPECT_GE(cut.block_elements, 8 * row);
}

TEST(ScanCut, BlocksOfHugeChunkRowsAreLimited) {
  const ScanCut cut = cut_of({1000000, 1000000}, {1000, 1000});
  EXPECT_EQ(cut.block_elements, 256 * mebibyte / 8);
}

TEST(ScanCut, LessMemoryMakesSmallerBlocksOfWholeGranules) {
  const ScanCut cut{tile, 12 * tile, 3 * tile};
  EXPECT_EQ(cut.limited_to(20 * tile).block_elements, 12 * tile);
  EXPECT_EQ(cut.limited_to(10 * tile).block_elements, 9 * tile);
  EXPECT_EQ(cut.limited_to(2 * tile).block_elements, 2 * tile);
}

TEST(BlockNumbers, RanksTakeBlocksInTurns) {
  const BlockNumbers second{10, 3, 2, 1};
  EXPECT_EQ(second.supersteps(), 2u);
  EXPECT_EQ(second.range(0), (ElementRange{3, 3}));
  EXPECT_EQ(second.range(1), (ElementRange{9, 1}));
  EXPECT_EQ(second.rank_of_last(), 1u);
  EXPECT_EQ((BlockNumbers{9, 3, 2, 1}.range(1).count), 0u);
}

}  // namespace
}  // namespace warpfold::pipeline
