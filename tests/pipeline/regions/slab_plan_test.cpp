#include "pipeline/regions/slab_plan.hpp"

#include <gtest/gtest.h>

#include "pipeline/datasets/described_dataset.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t mebi = 1u << 20;
constexpr ThreadResources host{8, false};
constexpr ThreadResources gpu{32, true};

io::DatasetInfo large(ReadPath path) { return described_dataset({1024, 4 * mebi}, {}, path); }

io::DatasetInfo in_chunks_of(std::uint64_t elements) {
  return described_dataset({1024 * mebi}, {elements}, ReadPath::chunk);
}

TEST(SlabTiling, ContiguousDatasetsAreTakenApartIntoRanges) {
  const SlabTiling tiling(described_dataset({1000}, {}, ReadPath::direct), 300);
  EXPECT_FALSE(tiling.in_chunks);
  EXPECT_EQ(tiling.slabs.items(), 4u);
  EXPECT_EQ(tiling.max_elements, 300u);
  EXPECT_EQ(tiling.slabs.range(0), (ElementRange{0, 300}));
  EXPECT_EQ(tiling.slabs.range(3), (ElementRange{900, 100}));
}

TEST(SlabTiling, ChunkedDatasetsAreTakenApartIntoBoxesOfWholeChunks) {
  const SlabTiling tiling(described_dataset({1000, 100}, {10, 30}, ReadPath::chunk), 1300);
  ASSERT_TRUE(tiling.in_chunks);
  EXPECT_EQ(tiling.slabs.max_places(), 4u);
  EXPECT_EQ(tiling.slabs.items(), 100u);
  EXPECT_EQ(tiling.max_elements, 1000u);
  EXPECT_EQ(chunks_of(tiling.slabs, {0, 1}), (ChunkRun{0, 4}));
  EXPECT_EQ(chunks_of(tiling.slabs, {98, 2}), (ChunkRun{392, 8}));
  EXPECT_EQ(chunks_of(tiling.slabs, {100, 0}).count, 0u);
}

TEST(SlabTiling, ASlabHoldsAtLeastOneChunk) {
  const SlabTiling tiling(described_dataset({1000, 100}, {10, 30}, ReadPath::direct), 1);
  EXPECT_EQ(tiling.slabs.max_places(), 1u);
  EXPECT_EQ(tiling.max_elements, 300u);
}

TEST(SlabTiling, WhatTheLibraryReadsIsTakenApartIntoRanges) {
  const SlabTiling tiling(described_dataset({1000, 100}, {10, 30}, ReadPath::library), 50000);
  EXPECT_FALSE(tiling.in_chunks);
  EXPECT_EQ(tiling.slabs.items(), 2u);
}

TEST(SlabPlan, SlabsThatAGpuDecompressesAreLarger) {
  io::DatasetInfo info = in_chunks_of(mebi);
  const SlabPlan raw = plan_slabs(info, {}, gpu, 1);
  info.filters = {{io::filter_id::deflate, "deflate", true, {}}};
  EXPECT_EQ(plan_slabs(info, {}, gpu, 1).slab_elements, 2 * raw.slab_elements);
  EXPECT_EQ(plan_slabs(info, {}, host, 1).slab_elements,
            plan_slabs(in_chunks_of(mebi), {}, host, 1).slab_elements);
}

TEST(SlabTiling, NoElementsMakeNoSlabs) {
  const SlabTiling raw(described_dataset({0}, {}, ReadPath::direct), 100);
  EXPECT_EQ(raw.slabs.items(), 0u);
  EXPECT_EQ(raw.max_elements, 0u);
  const SlabTiling chunked(described_dataset({0, 7}, {5, 7}, ReadPath::chunk), 100);
  EXPECT_EQ(chunked.slabs.items(), 0u);
}

TEST(SlabPlan, OptionsAreFollowed) {
  RunOptions options;
  options.threads = 50;
  options.slab_bytes = 64 * mebi;
  const SlabPlan plan = plan_slabs(large(ReadPath::direct), options, gpu, 1);
  EXPECT_EQ(plan.threads, 50);
  EXPECT_EQ(plan.slab_elements, 16 * mebi);
}

TEST(SlabPlan, SlabsAreSmallerWhereRanksShareAHost) {
  const io::DatasetInfo info = large(ReadPath::direct);
  EXPECT_LT(plan_slabs(info, {}, gpu, 4).slab_elements, plan_slabs(info, {}, gpu, 1).slab_elements);
}

TEST(SlabPlan, AllCoresReduceOnTheHostInSlabsThatStayInTheirCaches) {
  const SlabPlan plan = plan_slabs(large(ReadPath::direct), {}, host, 1);
  EXPECT_EQ(plan.threads, 8);
  EXPECT_LE(plan.slab_elements * 4, mebi);
  EXPECT_EQ(slots_for(plan, plan.threads), 8);
}

TEST(SlabPlan, FewThreadsFillAGpuAndAllDecompress) {
  EXPECT_LT(plan_slabs(large(ReadPath::direct), {}, gpu, 1).threads, 20);
  EXPECT_EQ(plan_slabs(in_chunks_of(mebi), {}, gpu, 1).threads, 32);
  EXPECT_EQ(plan_slabs(large(ReadPath::library), {}, gpu, 1).threads, 1);
}

TEST(SlabPlan, EveryThreadOfEveryRankGetsSeveralSlabs) {
  const io::DatasetInfo info = described_dataset({16 * mebi}, {}, ReadPath::direct);
  const SlabPlan plan = plan_slabs(info, {}, gpu, 4);
  const auto threads = static_cast<std::uint64_t>(plan.threads) * 4;
  EXPECT_GE(info.elements / plan.slab_elements, 2 * threads);
}

TEST(SlabPlan, LargeChunksLeaveRoomForFewThreads) {
  const SlabPlan plan = plan_slabs(in_chunks_of(256 * mebi), {}, gpu, 1);
  EXPECT_EQ(plan.threads, 1);
  EXPECT_EQ(slots_for(plan, plan.threads), 2);
}

TEST(SlabPlan, TheLibraryReadsWholeRowsOfChunks) {
  const io::DatasetInfo info = described_dataset({10000, 30000}, {10, 30}, ReadPath::library);
  const SlabPlan plan = plan_slabs(info, {}, host, 1);
  EXPECT_EQ(plan.slab_elements % 300000, 0u);
}

TEST(SlabPlan, ThreadsAreNoMoreThanSlabs) {
  const SlabPlan plan = plan_slabs(large(ReadPath::direct), {}, host, 1);
  EXPECT_EQ(threads_for(plan, 3), 3);
  EXPECT_EQ(threads_for(plan, 100), 8);
  EXPECT_EQ(threads_for(plan, 0), 0);
  EXPECT_EQ(slots_for(plan, 0), 1);
}

}  // namespace
}  // namespace warpfold::pipeline
