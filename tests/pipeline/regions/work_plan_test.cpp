#include "pipeline/regions/work_plan.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/scan/scan_arithmetic.hpp"
#include "pipeline/datasets/described_dataset.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t mebi = 1u << 20;
constexpr std::uint64_t tile = scan_order::tile_elements;
constexpr Means host{.threads = 8};
constexpr Means gpu{.threads = 32, .gpu = true};
constexpr Means gpu_of_four{.threads = 32, .gpu = true, .ranks = 4};

io::DatasetInfo large(ReadPath path) { return described_dataset({1024, 4 * mebi}, {}, path); }

io::DatasetInfo in_chunks_of(std::uint64_t elements) {
  return described_dataset({1024 * mebi}, {elements}, ReadPath::chunk);
}

WorkSizes slabs_of(const io::DatasetInfo& info, const Means& means) {
  return wanted_sizes(info, {}, means);
}

/// The plan of one rank alone that wants slabs of so many elements.
WorkPlan plan_of_slabs(const io::DatasetInfo& info, std::uint64_t elements) {
  return plan_work(info, {}, {.slab_bytes = elements * size_of(info.format.type)},
                   mpi::Communicator(MPI_COMM_SELF));
}

TEST(WorkPlan, ContiguousDatasetsAreTakenApartIntoRanges) {
  const WorkPlan plan = plan_of_slabs(described_dataset({1000}, {}, ReadPath::direct), 300);
  EXPECT_FALSE(plan.tiling.in_chunks());
  EXPECT_FALSE(plan.chunks());
  EXPECT_EQ(plan.mine, (ElementRange{0, 4}));
  EXPECT_EQ(plan.tiling.max_elements(), 300u);
  EXPECT_EQ(plan.tiling.range(0), (ElementRange{0, 300}));
  EXPECT_EQ(plan.tiling.range(3), (ElementRange{900, 100}));
  EXPECT_EQ(plan.tiling.elements(3), 100u);
}

TEST(WorkPlan, ChunkedDatasetsAreTakenApartIntoBoxesOfWholeChunks) {
  const WorkPlan plan =
      plan_of_slabs(described_dataset({1000, 100}, {10, 30}, ReadPath::chunk), 1300);
  ASSERT_TRUE(plan.tiling.in_chunks());
  EXPECT_EQ(plan.tiling.max_places(), 4u);
  EXPECT_EQ(plan.tiling.items(), 100u);
  EXPECT_EQ(plan.tiling.max_elements(), 1000u);
  EXPECT_EQ(plan.tiling.elements(99), 1000u);
  EXPECT_EQ(plan.tiling.range(0), (ElementRange{0, 4}));
  EXPECT_EQ(plan.tiling.range({98, 2}), (ElementRange{392, 8}));
  EXPECT_EQ(plan.chunks(), (ChunkRun{0, 400}));
}

TEST(WorkPlan, ASlabHoldsAtLeastOneChunk) {
  const WorkPlan plan =
      plan_of_slabs(described_dataset({1000, 100}, {10, 30}, ReadPath::direct), 1);
  EXPECT_EQ(plan.tiling.max_places(), 1u);
  EXPECT_EQ(plan.tiling.max_elements(), 300u);
}

TEST(WorkPlan, WhatTheLibraryReadsIsTakenApartIntoRanges) {
  const WorkPlan plan =
      plan_of_slabs(described_dataset({1000, 100}, {10, 30}, ReadPath::library), 50000);
  EXPECT_FALSE(plan.tiling.in_chunks());
  EXPECT_EQ(plan.tiling.items(), 2u);
}

TEST(WorkPlan, NoElementsMakeNoSlabs) {
  const WorkPlan raw = plan_of_slabs(described_dataset({0}, {}, ReadPath::direct), 100);
  EXPECT_EQ(raw.mine.count, 0u);
  EXPECT_EQ(raw.tiling.max_elements(), 0u);
  EXPECT_EQ(raw.threads, 0);
  EXPECT_EQ(raw.slots(), 1);
  EXPECT_EQ(plan_of_slabs(described_dataset({0, 7}, {5, 7}, ReadPath::chunk), 100).mine.count, 0u);
}

TEST(WorkPlan, EnginesThatHoldLessMakeSmallerSlabs) {
  const mpi::Communicator alone(MPI_COMM_SELF);
  const io::DatasetInfo info = described_dataset({1000, 100}, {10, 30}, ReadPath::chunk);
  const WorkPlan plan = plan_of_slabs(info, 1300);
  EXPECT_FALSE(narrowed(plan, info, 1000, alone));
  EXPECT_EQ(narrowed(plan, info, 999, alone)->tiling.max_places(), 2u);
  EXPECT_EQ(narrowed(plan, info, 10, alone)->tiling.max_places(), 1u);
}

TEST(WantedSizes, SlabsThatAGpuDecompressesAreLarger) {
  io::DatasetInfo info = in_chunks_of(mebi);
  const WorkSizes raw = slabs_of(info, gpu);
  info.filters = {{io::filter_id::deflate, "deflate", true, {}}};
  EXPECT_EQ(slabs_of(info, gpu).item_elements, 2 * raw.item_elements);
  EXPECT_EQ(slabs_of(info, host).item_elements, slabs_of(in_chunks_of(mebi), host).item_elements);
}

TEST(WantedSizes, OptionsAreFollowed) {
  Means means{.threads = 50, .gpu = true, .threads_are_asked_for = true, .slab_bytes = 64 * mebi};
  const WorkSizes plan = slabs_of(large(ReadPath::direct), means);
  EXPECT_EQ(plan.threads, 50);
  EXPECT_EQ(plan.item_elements, 16 * mebi);
}

TEST(WantedSizes, SlabsAreSmallerWhereRanksShareAHost) {
  const io::DatasetInfo info = large(ReadPath::direct);
  EXPECT_LT(slabs_of(info, gpu_of_four).item_elements, slabs_of(info, gpu).item_elements);
}

TEST(WantedSizes, AllCoresReduceOnTheHostInSlabsThatStayInTheirCaches) {
  const WorkSizes plan = slabs_of(large(ReadPath::direct), host);
  EXPECT_EQ(plan.threads, 8);
  EXPECT_LE(plan.item_elements * 4, mebi);
  EXPECT_EQ(plan.slots_per_thread, 1);
}

TEST(WantedSizes, FewThreadsFillAGpuAndAllDecompress) {
  EXPECT_LT(slabs_of(large(ReadPath::direct), gpu).threads, 20);
  EXPECT_EQ(slabs_of(in_chunks_of(mebi), gpu).threads, 32);
  EXPECT_EQ(slabs_of(large(ReadPath::library), gpu).threads, 1);
}

TEST(WantedSizes, EveryThreadOfEveryRankGetsSeveralSlabs) {
  const io::DatasetInfo info = described_dataset({16 * mebi}, {}, ReadPath::direct);
  const WorkSizes plan = slabs_of(info, gpu_of_four);
  const auto threads = static_cast<std::uint64_t>(plan.threads) * 4;
  EXPECT_GE(info.elements / plan.item_elements, 2 * threads);
}

TEST(WantedSizes, LargeChunksLeaveRoomForFewThreads) {
  const WorkSizes plan = slabs_of(in_chunks_of(256 * mebi), gpu);
  EXPECT_EQ(plan.threads, 1);
  EXPECT_EQ(plan.slots_per_thread, 2);
}

TEST(WantedSizes, TheLibraryReadsWholeRowsOfChunks) {
  const io::DatasetInfo info = described_dataset({10000, 30000}, {10, 30}, ReadPath::library);
  const WorkSizes plan = slabs_of(info, host);
  EXPECT_EQ(plan.item_elements % 300000, 0u);
}

WorkSizes blocks_of(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> chunk_shape,
                    const Means& means = {}) {
  io::DatasetInfo info =
      described_dataset(std::move(shape), std::move(chunk_shape), ReadPath::chunk);
  info.format.type = ElementType::f64;
  return wanted_sizes(info, {.items = Items::blocks}, means);
}

TEST(WantedSizes, BlocksHaveManyPieces) {
  const WorkSizes on_cpu = blocks_of({std::uint64_t{1} << 40}, {});
  EXPECT_EQ(on_cpu.piece_elements, mebi / 8);
  EXPECT_EQ(on_cpu.item_elements, 16 * on_cpu.piece_elements);
  const WorkSizes on_gpu = blocks_of({std::uint64_t{1} << 40}, {}, {.gpu = true});
  EXPECT_EQ(on_gpu.item_elements, 16 * on_gpu.piece_elements);
}

TEST(WantedSizes, ASlabIsAPiece) {
  EXPECT_EQ(blocks_of({std::uint64_t{1} << 40}, {}, {.slab_bytes = 3 * mebi}).piece_elements,
            3 * mebi / 8);
  EXPECT_EQ(blocks_of({1000000}, {}, {.slab_bytes = 4096}).piece_elements, tile);
}

TEST(WantedSizes, EachRankHasSeveralBlocksOfASmallDataset) {
  const WorkSizes plan = blocks_of({160 * tile}, {}, {.ranks = 4, .slab_bytes = 4096});
  EXPECT_EQ(plan.item_elements, 10 * tile);
}

TEST(WantedSizes, NoBlockIsLargerThanARanksShare) {
  EXPECT_EQ(blocks_of({10 * tile}, {}, {.ranks = 3}).item_elements, 4 * tile);
  EXPECT_EQ(blocks_of({1}, {}, {.ranks = 3}).item_elements, tile);
}

TEST(WantedSizes, BlocksAreWholeChunkRowsWhereTheseAreWholeTiles) {
  const std::uint64_t row = 3 * tile;
  const WorkSizes plan = blocks_of({100000, 1024}, {12, 100});
  EXPECT_EQ(plan.granule, row);
  EXPECT_EQ(plan.item_elements % row, 0u);
}

TEST(WantedSizes, BlocksHoldManyChunkRowsThatAreNoWholeTiles) {
  const std::uint64_t row = 1000001;
  const WorkSizes plan = blocks_of({100000, row}, {1, 1000});
  EXPECT_EQ(plan.item_elements % tile, 0u);
  EXPECT_GE(plan.item_elements, 8 * row);
}

TEST(WantedSizes, BlocksOfHugeChunkRowsAreLimited) {
  const WorkSizes plan = blocks_of({1000000, 1000000}, {1000, 1000});
  EXPECT_EQ(plan.item_elements, 256 * mebi / 8);
}

TEST(WantedSizes, LessMemoryMakesSmallerBlocksOfWholeGranules) {
  const WorkSizes plan{12 * tile, 3 * tile, tile};
  EXPECT_EQ(limited_to(plan, 20 * tile).item_elements, 12 * tile);
  EXPECT_EQ(limited_to(plan, 10 * tile).item_elements, 9 * tile);
  EXPECT_EQ(limited_to(plan, 2 * tile).item_elements, 2 * tile);
}

/// The elements of one rank's blocks of 3.
std::vector<ElementRange> blocks_of(std::uint64_t elements, Items items, int ranks, int rank) {
  const WorkPlan plan(items, {}, WorkTiling(Tiling(elements, 3)), ranks, rank);
  std::vector<ElementRange> blocks;
  for (std::uint64_t i = 0; i < plan.mine.count; ++i)
    blocks.push_back(plan.tiling.range(plan.item(i)));
  return blocks;
}

TEST(WorkPlan, RanksTakeBlocksInTurns) {
  EXPECT_EQ(blocks_of(10, Items::blocks_in_turns, 2, 1),
            (std::vector<ElementRange>{{3, 3}, {9, 1}}));
  EXPECT_EQ(blocks_of(9, Items::blocks_in_turns, 2, 1),
            (std::vector<ElementRange>{{3, 3}, {9, 0}}));
}

TEST(WorkPlan, RanksHaveConsecutiveBlocks) {
  EXPECT_EQ(blocks_of(10, Items::blocks, 3, 0), (std::vector<ElementRange>{{0, 3}, {3, 3}}));
  EXPECT_EQ(blocks_of(10, Items::blocks, 3, 2), (std::vector<ElementRange>{{9, 1}}));
  EXPECT_TRUE(blocks_of(10, Items::blocks, 5, 4).empty());
}

TEST(WorkPlan, ThreadsAreNoMoreThanHaveWork) {
  const auto threads = [](Items items, std::uint64_t elements) {
    return WorkPlan(items, {.threads = 8}, WorkTiling(Tiling(elements, 3)), 1, 0).threads;
  };
  EXPECT_EQ(threads(Items::slabs, 9), 3);
  EXPECT_EQ(threads(Items::slabs, 300), 8);
  EXPECT_EQ(threads(Items::blocks, 9), 8);
  const WorkPlan plan(Items::slabs, {.threads = 8, .slots_per_thread = 2}, WorkTiling(Tiling(9, 3)),
                      1, 0);
  EXPECT_EQ(plan.slots(), 6);
}

TEST(WorkPlan, ThreadsOfARankShareTheBoxesOfATile) {
  const std::vector<int> axes{0};
  const WorkTiling tiling(AxisShape({100, 5}, axes), {10, 5});
  EXPECT_EQ(WorkPlan(Items::tiles_of_ranks, {.threads = 8}, tiling, 1, 0).threads, 8);
  EXPECT_EQ(WorkPlan(Items::tiles_of_threads, {.threads = 8}, tiling, 1, 0).threads, 1);
}

}  // namespace
}  // namespace warpfold::pipeline
