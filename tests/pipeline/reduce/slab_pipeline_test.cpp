#include "pipeline/reduce/slab_pipeline.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/results/summarize.hpp"
#include "cpu/engines/backend.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/output/generate.hpp"
#include "pipeline/run/backend_like_a_gpu.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

/// Engines hold slabs of at most `max_elements` and have at most `max_threads`, as in a GPU with
/// little memory.
class SmallBackend final : public BackendLikeAGpu {
 public:
  explicit SmallBackend(std::uint64_t max_elements, int max_threads = 2)
      : max_elements_(max_elements), max_threads_(max_threads) {}

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    StagingPlan small = plan;
    small.slab_elements = std::min(plan.slab_elements, max_elements_);
    small.threads = std::min(plan.threads, max_threads_);
    return host_->make_reduce_engine(small, needs);
  }

 private:
  std::uint64_t max_elements_;
  int max_threads_;
};

/// Takes slabs of compressed chunks.
class DecompressingEngine final : public ReduceEngine {
 public:
  DecompressingEngine(std::unique_ptr<ReduceEngine> host, const StagingPlan& plan)
      : host_(std::move(host)), plan_(plan) {
    for (int thread = 0; thread < threads(); ++thread)
      staging_.emplace_back(plan.compressed.staging_bytes);
  }

  int threads() const override { return host_->threads(); }
  Ticket take(int thread) override {
    return {staging_.at(static_cast<std::size_t>(thread)), thread};
  }
  std::uint64_t slab_elements() const override { return host_->slab_elements(); }
  bool decompresses() const override { return true; }
  std::vector<StageTiming> timings() const override { return host_->timings(); }
  Accumulator finish() override { return host_->finish(); }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    const Ticket to = host_->take(ticket.thread);
    const std::uint64_t chunk_bytes = plan_.compressed.form.chunk_bytes;
    std::vector<StagedChunk> decompressed;
    for (const StagedChunk& chunk : slab.chunks) {
      EXPECT_GT(chunk.compressed_bytes, 0u);
      const std::uint64_t place = decompressed.size() * chunk_bytes;
      plan_.compressed.decode(chunk.number, to.memory.subspan(place, chunk_bytes));
      decompressed.push_back({chunk.number, place});
    }
    StagedChunks plain = slab;
    plain.chunks = decompressed;
    host_->submit(to, plain);
    ++submitted;
  }

  inline static std::atomic<int> submitted = 0;

 private:
  std::unique_ptr<ReduceEngine> host_;
  StagingPlan plan_;
  std::vector<std::vector<std::byte>> staging_;
};

class DecompressingBackend final : public BackendLikeAGpu {
 public:
  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    DecompressingEngine::submitted = 0;
    if (plan.compressed.chunks == 0) return host_->make_reduce_engine(plan, needs);
    return std::make_unique<DecompressingEngine>(host_->make_reduce_engine(plan, needs), plan);
  }
};

/// A chunked dataset, reduced by ranks whose last one has a small engine.
class SlabPipeline : public ::testing::Test {
 protected:
  SlabPipeline() { write({200, 90}, {10, 20}); }

  ~SlabPipeline() override {
    if (world_.is_root()) std::remove(file_.c_str());
  }

  void write(const Extents& shape, const Extents& chunk_shape,
             std::optional<int> deflate_level = std::nullopt) {
    GenerateOptions options;
    options.kind = GeneratorKind::iota;
    options.format.type = ElementType::i64;
    options.shape = shape;
    options.storage.chunk_shape = chunk_shape;
    options.storage.deflate_level = deflate_level;
    options.output = {file_, "values", true, {}};
    expected_sum_ = generate(MPI_COMM_WORLD, options).known_sum;
  }

  /// Writes the first half of so many elements, numbered from 0; the others are `fill`.
  void write_half(std::int64_t elements, hsize_t chunk, std::int64_t fill) {
    const std::int64_t half = elements / 2;
    expected_sum_ = int128{half} * (half - 1) / 2 + half * fill;
    if (world_.is_root()) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(half));
      std::iota(values.begin(), values.end(), 0);
      const auto extent = static_cast<hsize_t>(elements);
      const auto written = static_cast<hsize_t>(half);
      const hid_t file = H5Fcreate(file_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t all = H5Screate_simple(1, &extent, nullptr);
      const hid_t first = H5Screate_simple(1, &written, nullptr);
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(creation, 1, &chunk);
      H5Pset_fill_value(creation, H5T_NATIVE_INT64, &fill);
      const hid_t dataset =
          H5Dcreate2(file, "values", H5T_STD_I64LE, all, H5P_DEFAULT, creation, H5P_DEFAULT);
      const hsize_t zero = 0;
      H5Sselect_hyperslab(all, H5S_SELECT_SET, &zero, nullptr, &written, nullptr);
      EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_INT64, first, all, H5P_DEFAULT, values.data()), 0);
      H5Dclose(dataset);
      H5Pclose(creation);
      H5Sclose(first);
      H5Sclose(all);
      EXPECT_GE(H5Fclose(file), 0);
    }
    mpi::barrier(world_);
  }

  DatasetView open() const { return {{}, open_everywhere(file_, "values", world_)}; }

  /// Starts cores, and on the last rank the backend that make() returns.
  void start(std::function<std::unique_ptr<Backend>()> make) {
    options_.backend = BackendChoice::cpu;
    run_.emplace(MPI_COMM_WORLD, options_);
    if (world_.is_last()) run_->backend = {std::launch::async, std::move(make)};
  }

  void start_small(std::uint64_t max_elements) {
    options_.threads = 2;
    options_.slab_bytes = 8192;  // so that every rank has some
    start([max_elements] { return std::make_unique<SmallBackend>(max_elements); });
  }

  /// Starts a GPU that cores share compressed slabs with, once `wait` returns.
  void start_shared(std::function<void()> wait) {
    options_.threads = world_.size() == 1 ? 2 : 1;
    run_.emplace(MPI_COMM_WORLD, options_);
    run_->place.gpu.emplace();
    run_->backend = {std::launch::async, [wait = std::move(wait)] {
                       wait();
                       return std::make_unique<DecompressingBackend>();
                     }};
  }

  void pass(DatasetView& view, const ResultTaker& take) {
    const auto make = [this](Backend& backend, const StagingPlan& plan) {
      const std::lock_guard lock(mutex_);
      (plan.compressed.chunks > 0 ? gpu_plans_ : plans_).push_back(plan);
      return backend.make_reduce_engine(plan, needs_of({Statistic::sum}, ElementType::i64));
    };
    stages_ = pass_slabs(view, make, take, *run_);
  }

  void expect_error(DatasetView& view) {
    EXPECT_THROW(pass(view, [](StreamEngine&, std::uint64_t) { FAIL(); }), Error);
  }

  void expect_right_sum(DatasetView& view) {
    Accumulator mine = Accumulator::empty();
    pass(view, [&](StreamEngine& engine, std::uint64_t times) {
      Accumulator part = static_cast<ReduceEngine&>(engine).finish();
      part.repeat(times);
      mine.merge(part);
    });
    const Accumulator whole = mpi::reduce(mine, world_);
    if (!world_.is_root()) return;
    const Summary summary = summarize(whole, ElementType::i64, {Statistic::sum}, {});
    EXPECT_EQ(summary.front().second, expected_sum_);
  }

  /// Returns the bytes that a stage of this rank took.
  std::uint64_t bytes_of(const char* stage) const {
    const auto found = std::ranges::find(stages_, stage, &StageTiming::stage);
    return found == stages_.end() ? 0 : found->bytes;
  }

  mpi::Communicator world_{MPI_COMM_WORLD};
  std::string file_ =
      ::testing::TempDir() + "slab_pipeline_" + std::to_string(world_.size()) + ".h5";
  Value expected_sum_;
  RunOptions options_;
  std::optional<pipeline::Run> run_;
  std::mutex mutex_;
  std::vector<StagingPlan> plans_;      ///< plans of engines that do not decompress
  std::vector<StagingPlan> gpu_plans_;  ///< plans of those that may
  std::vector<StageTiming> stages_;
};

TEST_F(SlabPipeline, SlabsAreBoxesOfChunksThatEveryEngineHolds) {
  DatasetView view = open();
  start_small(850);
  expect_right_sum(view);
  EXPECT_EQ(plans_.back().staging, Staging::chunks);
  EXPECT_EQ(plans_.back().slab_elements, 3U * 10 * 20);
  EXPECT_EQ(plans_.size(), 2U) << "all ranks began again, once";
}

TEST_F(SlabPipeline, TheLibraryReadsWhereNoChunkFits) {
  DatasetView view = open();
  start_small(150);
  expect_right_sum(view);
  EXPECT_EQ(view.info().path, ReadPath::library);
  EXPECT_NE(plans_.back().staging, Staging::chunks);
  EXPECT_LE(plans_.back().slab_elements, 150U);
}

TEST_F(SlabPipeline, APathThatWasAskedForIsNotLeft) {
  DatasetView view = open();
  options_.read_path = ReadPath::direct;
  start_small(150);
  expect_error(view);
}

TEST_F(SlabPipeline, ChunksThatWereNeverWrittenCountOnceWhereSlabsBecomeSmaller) {
  write_half(40000, 100, 7);
  DatasetView view = open();
  start_small(250);
  expect_right_sum(view);
  EXPECT_GT(plans_.front().slab_elements, 250U);
  EXPECT_LE(plans_.back().slab_elements, 250U);
}

TEST_F(SlabPipeline, AnEngineMayHaveRoomForFewerThreads) {
  DatasetView view = open();
  options_.slab_bytes = 4096;
  options_.threads = 4;
  start([] { return std::make_unique<SmallBackend>(1 << 20, 1); });
  expect_right_sum(view);
}

TEST_F(SlabPipeline, ARankWithoutSlabsHasAResult) {
  write({10, 20}, {10, 20});
  DatasetView view = open();
  start_small(1 << 20);
  expect_right_sum(view);
}

TEST_F(SlabPipeline, OthersTakeTheSlabsOfARankThatStartsLate) {
  if (world_.size() == 1) GTEST_SKIP() << "there are no others";
  constexpr std::uint64_t bytes = std::uint64_t{640} * 100 * sizeof(std::int64_t);
  constexpr std::uint64_t slab_bytes = 4096;
  write({640, 100}, {10, 20});
  DatasetView view = open();
  options_.slab_bytes = slab_bytes;
  options_.threads = 1;
  // They leave a rank as many as it has threads.
  std::atomic<bool> others_are_done = false;
  options_.progress = [&](const RunProgress& now) {
    if (now.pass > 0 && now.done + slab_bytes >= bytes) others_are_done = true;
  };
  options_.progress_interval = std::chrono::milliseconds(1);
  start([&] {
    while (!others_are_done) std::this_thread::yield();
    return std::make_unique<SmallBackend>(1 << 20);
  });
  expect_right_sum(view);
  if (world_.is_last()) {
    EXPECT_LE(bytes_of(stage::reduce), slab_bytes);
  }
  run_.reset();  // calls `progress`
}

TEST_F(SlabPipeline, ARankThatCannotStartEndsTheRunOfAll) {
  DatasetView view = open();
  options_.slab_bytes = 4096;
  start([]() -> std::unique_ptr<Backend> { throw Error("no GPU today", "", ""); });
  expect_error(view);
}

TEST_F(SlabPipeline, CoresAndAGpuHaveEveryCompressedSlabOnce) {
  write({640, 100}, {10, 20}, 1);
  DatasetView view = open();
  options_.slab_bytes = 4096;
  start_shared([] {});
  expect_right_sum(view);
  EXPECT_EQ(gpu_plans_.at(0).compressed.slab_chunks, 2U);
  EXPECT_EQ(plans_.at(0).slab_elements, 2U * 10 * 20);
  const std::vector<std::uint64_t> mine{bytes_of(stage::reduce_on_cores)};
  const std::vector<std::uint64_t> of_all = mpi::sum(mine, world_);
  if (!world_.is_root()) return;
  EXPECT_GT(of_all.front(), 0u) << "the last ones, of any rank";
}

TEST_F(SlabPipeline, CoresTakeLargeChunksOneByOneAndTheGpuWholeSlabs) {
  write({8192, 1024}, {64, 128}, 1);
  DatasetView view = open();
  options_.slab_bytes = std::uint64_t{4} * 64 * 128 * sizeof(std::int64_t);
  start_shared([] {});
  expect_right_sum(view);
  EXPECT_EQ(gpu_plans_.at(0).compressed.slab_chunks, 4U);
  EXPECT_EQ(plans_.at(0).slab_elements, 64U * 128);
  EXPECT_GT(DecompressingEngine::submitted, 0);
}

TEST_F(SlabPipeline, CoresDoNotWaitForAGpuThatStartsLate) {
  if (world_.size() > 1) GTEST_SKIP() << "a rank has one thread";
  write({640, 100}, {10, 20}, 1);
  DatasetView view = open();
  options_.slab_bytes = 4096;
  std::promise<void> all_taken;
  start_shared([&] { all_taken.get_future().wait(); });
  const std::jthread watching([&] {
    const auto is_done = [](const StageProgress& each) {
      return each.stage == stage::reduce_on_cores && each.bytes == 640 * 100 * sizeof(std::int64_t);
    };
    while (std::ranges::none_of(run_->monitor.stages().progress(), is_done))
      std::this_thread::yield();
    all_taken.set_value();
  });
  expect_right_sum(view);
  EXPECT_EQ(DecompressingEngine::submitted, 0);
}

TEST_F(SlabPipeline, AGpuThatFailsToStartEndsTheRun) {
  write({640, 100}, {10, 20}, 1);
  DatasetView view = open();
  options_.slab_bytes = 4096;
  start_shared([] { throw Error("no GPU today", "", ""); });
  expect_error(view);
}

TEST_F(SlabPipeline, NeitherFewChunksNorThoseThatAreNotCompressedAreShared) {
  for (const bool compressed : {false, true}) {
    if (compressed) write({40, 20}, {10, 20}, 1);
    DatasetView view = open();
    start_shared([] {});
    expect_right_sum(view);
    EXPECT_EQ(bytes_of(stage::reduce_on_cores), 0U);
  }
}

}  // namespace
}  // namespace warpfold::pipeline
