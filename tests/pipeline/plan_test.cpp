#include "pipeline/plan.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

io::DatasetInfo dataset(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk_shape) {
  io::DatasetInfo info;
  info.format.type = ElementType::f32;
  info.shape = std::move(shape);
  info.elements = 1;
  for (const std::uint64_t extent : info.shape) info.elements *= extent;
  info.chunk_shape = std::move(chunk_shape);
  info.layout = info.chunk_shape.empty() ? io::Layout::contiguous : io::Layout::chunked;
  return info;
}

TEST(SlabBytes, FourKibibytesToOneGibibyte) {
  EXPECT_NO_THROW(check_slab_bytes(4096));
  EXPECT_NO_THROW(check_slab_bytes(std::uint64_t{1} << 30));
  EXPECT_THROW(check_slab_bytes(4095), Error);
  EXPECT_THROW(check_slab_bytes((std::uint64_t{1} << 30) + 1), Error);
}

TEST(SlabCut, ContiguousDatasetsAreCutByTheSlabAlone) {
  const SlabCut cut = cut_into_slabs(dataset({1000000}, {}), 1 << 20, 4);
  EXPECT_EQ(cut.slab_elements, 262144u);
  EXPECT_EQ(cut.granule, 4096u);
}

TEST(SlabCut, SlabsAndPartitionsAreWholeChunkRows) {
  const SlabCut cut = cut_into_slabs(dataset({1000, 100}, {10, 30}), 10000, 4);
  EXPECT_EQ(cut.slab_elements, 2000u);
  EXPECT_EQ(cut.granule, 1000u);
}

TEST(SlabCut, ChunkRowsLargerThanASlabStillDivideTheRanks) {
  const SlabCut cut = cut_into_slabs(dataset({1000, 100}, {20, 30}), 4096, 4);
  EXPECT_EQ(cut.slab_elements, 1024u);
  EXPECT_EQ(cut.granule, 2000u);
}

TEST(SlabCut, FewChunkRowsLeaveNoRankIdle) {
  const SlabCut cut = cut_into_slabs(dataset({1000000}, {500000}), 1 << 20, 4);
  EXPECT_EQ(cut.granule, 4096u);
}

}  // namespace
}  // namespace warpfold::pipeline
