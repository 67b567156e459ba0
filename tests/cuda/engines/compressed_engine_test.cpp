#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/tiling.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/compressed_slabs.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_chunks.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr ElementFormat format = CompressedSlabs::format;
constexpr int threads = CompressedSlabs::threads;

/// Passes the slabs to the engine, by several threads. What a thread throws
/// ends all of them.
void pass(StreamEngine& engine, const CompressedSlabs& sample) {
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      try {
        while (true) {
          const std::uint64_t box = next++;
          if (box >= sample.boxes.items()) return;
          const ChunkRun run = chunks_of(sample.boxes, {box, 1});
          const Ticket ticket = engine.take(thread);
          const SampleChunks& slab = sample.slabs[box];
          ASSERT_LE(slab.staging.size(), ticket.memory.size());
          std::ranges::copy(slab.staging, ticket.memory.begin());
          engine.submit(ticket, {sample.grid,
                                 box_target(sample.grid, run),
                                 slab.chunks,
                                 {},
                                 box_indices(sample.grid, run)});
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = sample.boxes.items();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
}

/// Hands a slab of rows to the engine.
void submit_rows(AxisScanEngine& engine, int thread, const CompressedSlabs& sample,
                 std::uint64_t box) {
  const ChunkRun run = chunks_of(sample.boxes, {box, 1});
  const SampleChunks& slab = sample.slabs[box];
  const ChunkTarget target = box_target(sample.grid, run);
  const Ticket ticket = engine.take(thread, {1, target.elements / 190, 190, box});
  std::ranges::copy(slab.staging, ticket.memory.begin());
  engine.submit(ticket, {sample.grid, target, slab.chunks, {}});
}

/// Returns the prefixes of all columns, row by row.
std::vector<std::byte> prefixes_by_slabs(AxisScanEngine& engine, int thread,
                                         const CompressedSlabs& sample) {
  std::vector<std::byte> prefixes;
  const std::uint64_t boxes = sample.boxes.items();
  std::uint64_t submitted = 0;
  for (std::uint64_t scanned = 0; scanned < boxes; ++scanned) {
    while (submitted < boxes && submitted < scanned + static_cast<unsigned>(engine.under_way()))
      submit_rows(engine, thread, sample, submitted++);
    const auto slab = engine.scan(thread);
    if (slab) prefixes.insert(prefixes.end(), slab->begin(), slab->end());
  }
  return prefixes;
}

/// The same, by a core, from what was compressed.
std::vector<std::byte> prefixes_of_columns(const CompressedSlabs& sample, const ScanSpec& sum) {
  const std::uint64_t elements = sample.elements.size() / sizeof(float);
  const auto engine =
      cpu::make_backend(1)->make_axis_scan_engine({format, {}, elements}, {sum, 190});
  const Ticket ticket = engine->take(0, {1, elements / 190, 190});
  std::ranges::copy(sample.elements, ticket.memory.begin());
  engine->submit(ticket, staged_run({}, {0, elements}));
  const auto prefixes = *engine->scan(0);
  return {prefixes.begin(), prefixes.end()};
}

class CudaCompressed : public BothBackendsOf<::testing::Test> {
 protected:
  Accumulator expected(const CompressedSlabs& sample) {
    return reduce_all(*cpu_, {format, {}, 4096}, everything, sample.elements);
  }
};

/// Number of chunks below which cores decompress.
constexpr std::uint64_t many_chunks = 500;

TEST_F(CudaCompressed, SlabsReduceToWhatTheFlatDatasetDoes) {
  for (const std::uint64_t slab_chunks : {1u, 3u, 20u, 1000u}) {
    CompressedSlabs sample(slab_chunks);
    StagingPlan plan = sample.plan();
    plan.compressed.chunks = many_chunks;
    const auto engine = gpu_->make_reduce_engine(plan, everything);
    ASSERT_TRUE(engine->decompresses());
    // Batches are filled several times.
    Accumulator all = Accumulator::empty();
    for (int round = 0; round < 12; ++round) {
      pass(*engine, sample);
      all.merge(expected(sample));
    }
    all.normalize();
    expect_equal(engine->finish(), all, std::to_string(slab_chunks));
  }
}

TEST_F(CudaCompressed, SlabsAreReadToTheirPlaces) {
  for (const std::uint64_t slab_chunks : {1u, 20u}) {
    CompressedSlabs sample(slab_chunks);
    StagingPlan plan = sample.plan();
    plan.compressed.chunks = many_chunks;
    const std::uint64_t elements = sample.elements.size() / sizeof(float);
    const DeviceBuffer memory(sample.elements.size());
    const auto engine = gpu_->make_read_engine(plan, {memory.data(), {0, elements}});
    ASSERT_TRUE(engine->decompresses());
    pass(*engine, sample);
    engine->finish();
    const Stream stream;
    EXPECT_TRUE(downloaded_array<std::byte>(memory.data(), sample.elements.size(), stream.get()) ==
                sample.elements)
        << slab_chunks;
  }
}

/// Each thread scans all columns, with several slabs of whole rows under way.
TEST_F(CudaCompressed, SlabsOfLinesAreScannedInTheirOrder) {
  constexpr int under_way = 5;
  const CompressedSlabs sample(6);
  StagingPlan plan = sample.plan();
  plan.compressed.chunks = many_chunks;
  plan.slots_per_thread = 1;
  const ScanSpec sum{format, ScanOperation::sum, false, ElementType::f64, OverflowPolicy::error};
  const std::vector<std::byte> expected = prefixes_of_columns(sample, sum);
  const auto engine = gpu_->make_axis_scan_engine(plan, {sum, 190, under_way});
  ASSERT_TRUE(engine->decompresses());
  ASSERT_EQ(engine->under_way(), under_way);
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread)
    workers.emplace_back([&, thread] {
      for (int round = 0; round < 3; ++round)
        EXPECT_TRUE(prefixes_by_slabs(*engine, thread, sample) == expected) << thread;
    });
  for (std::thread& worker : workers) worker.join();
}

TEST_F(CudaCompressed, RefusedChunksAreDecodedAsPlanned) {
  CompressedSlabs sample(7);
  std::set<std::uint64_t> damaged;
  for (SampleChunks& slab : sample.slabs)
    for (const StagedChunk& chunk : slab.chunks)
      if (chunk.compressed_bytes != 0 && chunk.number % 5 == 0) {
        slab.staging[chunk.source + chunk.compressed_bytes - 1] ^= std::byte{1};  // its checksum
        damaged.insert(chunk.number);
      }
  ASSERT_GT(damaged.size(), 5u);
  StagingPlan plan = sample.plan();
  plan.compressed.chunks = many_chunks;
  std::set<std::uint64_t> decoded;
  std::mutex mutex;
  plan.compressed.decode = [&](std::uint64_t number, std::span<std::byte> out) {
    const std::lock_guard lock(mutex);
    decoded.insert(number);
    std::ranges::copy(sample.decompressed.at(number), out.begin());
  };
  const auto engine = gpu_->make_reduce_engine(plan, everything);
  pass(*engine, sample);
  expect_equal(engine->finish(), expected(sample), "damaged");
  EXPECT_EQ(decoded, damaged);
}

TEST_F(CudaCompressed, ChunksThatNobodyDecodesAreErrors) {
  CompressedSlabs sample(7);
  for (SampleChunks& slab : sample.slabs)
    for (const StagedChunk& chunk : slab.chunks)
      if (chunk.compressed_bytes != 0 && chunk.number == 50)
        slab.staging[chunk.source + chunk.compressed_bytes / 2] ^= std::byte{0x10};
  StagingPlan plan = sample.plan();
  plan.compressed.chunks = many_chunks;
  const auto engine = gpu_->make_reduce_engine(plan, everything);
  try {
    pass(*engine, sample);
    engine->finish();
    FAIL() << "nothing is refused";
  } catch (const Error& error) {
    EXPECT_NE(error.problem().find("chunk 50 "), std::string::npos) << error.what();
  }
}

TEST_F(CudaCompressed, CoresDecompressWhereMemoryIsShort) {
  CompressedSlabs sample(3);
  StagingPlan plan = sample.plan();
  plan.compressed.chunks = many_chunks;
  EXPECT_TRUE(make_backend_with(64 << 20)->make_reduce_engine(plan, everything)->decompresses());
  EXPECT_FALSE(make_backend_with(1 << 20)->make_reduce_engine(plan, everything)->decompresses());
}

}  // namespace
}  // namespace warpfold::cuda
