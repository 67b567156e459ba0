#include "pipeline/regions/slab_cut.hpp"

#include <gtest/gtest.h>

#include "pipeline/datasets/described_dataset.hpp"

namespace warpfold::pipeline {
namespace {

TEST(SlabCut, ContiguousDatasetsAreCutIntoRanges) {
  const SlabCut cut(described_dataset({1000}, {}, ReadPath::direct), 300);
  EXPECT_FALSE(cut.in_chunks());
  EXPECT_EQ(cut.slabs(), 4u);
  EXPECT_EQ(cut.max_elements(), 300u);
  EXPECT_EQ(cut.range(0), (ElementRange{0, 300}));
  EXPECT_EQ(cut.range(3), (ElementRange{900, 100}));
}

TEST(SlabCut, RanksShareSlabsEvenlyAndInOrder) {
  const SlabCut cut(described_dataset({1000}, {}, ReadPath::direct), 100);
  EXPECT_EQ(cut.share(3, 0), (ElementRange{0, 4}));
  EXPECT_EQ(cut.share(3, 1), (ElementRange{4, 3}));
  EXPECT_EQ(cut.share(3, 2), (ElementRange{7, 3}));
  EXPECT_EQ(cut.share(11, 10).count, 0u);
}

TEST(SlabCut, ChunkedDatasetsAreCutIntoBoxesOfWholeChunks) {
  const SlabCut cut(described_dataset({1000, 100}, {10, 30}, ReadPath::chunk), 1300);
  ASSERT_TRUE(cut.in_chunks());
  EXPECT_EQ(cut.max_chunks(), 4u);
  EXPECT_EQ(cut.slabs(), 100u);
  EXPECT_EQ(cut.max_elements(), 1000u);
  EXPECT_EQ(cut.chunks({0, 1}), (ChunkRun{0, 4}));
  EXPECT_EQ(cut.chunks({98, 2}), (ChunkRun{392, 8}));
  EXPECT_EQ(cut.chunks({100, 0}).count, 0u);
}

TEST(SlabCut, ASlabHoldsAtLeastOneChunk) {
  const SlabCut cut(described_dataset({1000, 100}, {10, 30}, ReadPath::direct), 1);
  EXPECT_EQ(cut.max_chunks(), 1u);
  EXPECT_EQ(cut.max_elements(), 300u);
}

TEST(SlabCut, WhatTheLibraryReadsIsCutIntoRanges) {
  const SlabCut cut(described_dataset({1000, 100}, {10, 30}, ReadPath::library), 50000);
  EXPECT_FALSE(cut.in_chunks());
  EXPECT_EQ(cut.slabs(), 2u);
}

TEST(SlabCut, NoElementsMakeNoSlabs) {
  const SlabCut raw(described_dataset({0}, {}, ReadPath::direct), 100);
  EXPECT_EQ(raw.slabs(), 0u);
  EXPECT_EQ(raw.max_elements(), 0u);
  const SlabCut chunked(described_dataset({0, 7}, {5, 7}, ReadPath::chunk), 100);
  EXPECT_EQ(chunked.slabs(), 0u);
}

}  // namespace
}  // namespace warpfold::pipeline
