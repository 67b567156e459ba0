#include "pipeline/reduce/slab_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>
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

/// Engines hold slabs of at most `max_elements`, as in a GPU with little memory.
class SmallBackend final : public BackendLikeAGpu {
 public:
  explicit SmallBackend(std::uint64_t max_elements) : max_elements_(max_elements) {}

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    StagingPlan small = plan;
    small.slab_elements = std::min(plan.slab_elements, max_elements_);
    return host_->make_reduce_engine(small, needs);
  }

 private:
  std::uint64_t max_elements_;
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
    return std::make_unique<DecompressingEngine>(host_->make_reduce_engine(plan, needs), plan);
  }
};

/// A chunked dataset, reduced by ranks whose last one has a small engine.
class SlabPipeline : public testing::Test {
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

  DatasetView open() const { return {{}, open_everywhere(file_, "values", world_)}; }

  SlabSetup set_up(DatasetView& view, std::uint64_t max_elements) {
    static constexpr std::uint64_t plenty = 1 << 20;
    options_.backend = BackendChoice::cpu;
    options_.threads = 2;
    run_.emplace(MPI_COMM_WORLD, options_);
    run_->backend = StartingBackend([this, max_elements] {
      return std::make_unique<SmallBackend>(world_.is_last() ? max_elements : plenty);
    });
    return set_up(view);
  }

  SlabSetup set_up(DatasetView& view) {
    const auto make = [](Backend& backend, const StagingPlan& plan) {
      return backend.make_reduce_engine(plan, needs_of({Statistic::sum}, ElementType::i64));
    };
    return set_up_slabs(view, make, *run_);
  }

  /// Sets up compressed slabs that cores share with a GPU, which has started once start() returns.
  SlabSetup set_up_shared(DatasetView& view, std::function<void()> start) {
    options_.threads = world_.size() == 1 ? 2 : 1;
    run_.emplace(MPI_COMM_WORLD, options_);
    run_->place.gpu.emplace();
    run_->backend = StartingBackend([start = std::move(start)] {
      start();
      return std::make_unique<DecompressingBackend>();
    });
    return set_up(view);
  }

  /// Returns the bytes that cores took beside a GPU.
  std::uint64_t bytes_on_cores() const {
    const auto on_cores = std::ranges::find(stages_, stage::reduce_on_cores, &StageTiming::stage);
    return on_cores == stages_.end() ? 0 : on_cores->bytes;
  }

  void expect_right_sum(const SlabSetup& setup, const DatasetView& view) {
    Accumulator mine = Accumulator::empty();
    const auto add = [&](StreamEngine& engine, std::uint64_t times) {
      Accumulator part = static_cast<ReduceEngine&>(engine).finish();
      part.repeat(times);
      mine.merge(part);
    };
    stages_ = pass_slabs(setup, add, view.info(), *run_);
    const Accumulator whole = mpi::reduce(mine, world_);
    if (!world_.is_root()) return;
    const Summary summary = summarize(whole, ElementType::i64, {Statistic::sum}, {});
    EXPECT_EQ(summary.front().second, expected_sum_);
  }

  mpi::Communicator world_{MPI_COMM_WORLD};
  std::string file_ = testing::TempDir() + "slab_pipeline_" + std::to_string(world_.size()) + ".h5";
  Value expected_sum_;
  RunOptions options_;
  std::optional<pipeline::Run> run_;
  std::vector<StageTiming> stages_;
};

TEST_F(SlabPipeline, SlabsAreBoxesOfChunksThatEveryEngineHolds) {
  DatasetView view = open();
  const SlabSetup setup = set_up(view, 900);
  EXPECT_TRUE(setup.plan.tiling.in_chunks());
  EXPECT_EQ(setup.plan.tiling.max_places(), 3u);
  expect_right_sum(setup, view);
}

TEST_F(SlabPipeline, TheLibraryReadsWhereNoChunkFits) {
  DatasetView view = open();
  const SlabSetup setup = set_up(view, 150);
  EXPECT_EQ(view.info().path, ReadPath::library);
  EXPECT_FALSE(setup.plan.tiling.in_chunks());
  EXPECT_LE(setup.plan.tiling.max_elements(), 150u);
  expect_right_sum(setup, view);
}

TEST_F(SlabPipeline, APathThatWasAskedForIsNotLeft) {
  DatasetView view = open();
  options_.read_path = ReadPath::direct;
  EXPECT_THROW(set_up(view, 150), Error);
}

TEST_F(SlabPipeline, CoresAndAGpuHaveEveryCompressedSlabOnce) {
  write({640, 100}, {10, 20}, 1);
  DatasetView view = open();
  options_.slab_bytes = 4096;
  const SlabSetup setup = set_up_shared(view, [] {});
  ASSERT_NE(setup.gpu, nullptr);
  EXPECT_EQ(setup.plan.tiling.max_places(), 2u);
  EXPECT_EQ(setup.piece_chunks, 2u);
  expect_right_sum(setup, view);
  const std::vector<std::uint64_t> mine{bytes_on_cores()};
  const std::vector<std::uint64_t> of_all = mpi::sum(mine, world_);
  if (!world_.is_root()) return;
  EXPECT_GT(of_all.front(), 0u) << "the last ones, of any rank";
}

TEST_F(SlabPipeline, CoresTakeLargeChunksOneByOneAndTheGpuWholeSlabs) {
  write({8192, 1024}, {64, 128}, 1);
  DatasetView view = open();
  options_.slab_bytes = std::uint64_t{4} * 64 * 128 * sizeof(std::int64_t);
  const SlabSetup setup = set_up_shared(view, [] {});
  ASSERT_NE(setup.gpu, nullptr);
  EXPECT_EQ(setup.plan.tiling.max_places(), 4u);
  EXPECT_EQ(setup.piece_chunks, 1u);
  expect_right_sum(setup, view);
  EXPECT_GT(DecompressingEngine::submitted, 0);
}

TEST_F(SlabPipeline, CoresDoNotWaitForAGpuThatStartsLate) {
  if (world_.size() > 1) GTEST_SKIP() << "a rank has one thread";
  write({640, 100}, {10, 20}, 1);
  DatasetView view = open();
  options_.slab_bytes = 4096;
  std::promise<void> all_taken;
  const SlabSetup setup = set_up_shared(view, [&] { all_taken.get_future().wait(); });
  ASSERT_NE(setup.gpu, nullptr);
  const std::jthread watching([&] {
    const auto is_done = [](const StageProgress& each) {
      return each.stage == stage::reduce_on_cores && each.bytes == 640 * 100 * sizeof(std::int64_t);
    };
    while (std::ranges::none_of(run_->monitor.stages().progress(), is_done))
      std::this_thread::yield();
    all_taken.set_value();
  });
  expect_right_sum(setup, view);
  EXPECT_EQ(DecompressingEngine::submitted, 0);
}

TEST_F(SlabPipeline, AGpuThatFailsToStartEndsTheRun) {
  write({640, 100}, {10, 20}, 1);
  DatasetView view = open();
  options_.slab_bytes = 4096;
  const SlabSetup setup = set_up_shared(view, [] { throw Error("no GPU today", "", ""); });
  ASSERT_NE(setup.gpu, nullptr);
  const auto nothing = [](StreamEngine&, std::uint64_t) {};
  EXPECT_THROW(pass_slabs(setup, nothing, view.info(), *run_), Error);
}

TEST_F(SlabPipeline, NeitherFewChunksNorThoseThatAreNotCompressedAreShared) {
  DatasetView plain = open();
  EXPECT_EQ(set_up_shared(plain, [] {}).gpu, nullptr);
  write({40, 20}, {10, 20}, 1);
  DatasetView few = open();
  EXPECT_EQ(set_up_shared(few, [] {}).gpu, nullptr);
}

}  // namespace
}  // namespace warpfold::pipeline
