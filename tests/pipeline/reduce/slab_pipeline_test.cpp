#include "pipeline/reduce/slab_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "core/results/summarize.hpp"
#include "cpu/engines/backend.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/output/generate.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// The host's, but engines hold slabs of at most `max_elements`, as in a GPU with little memory.
class SmallBackend final : public Backend {
 public:
  explicit SmallBackend(std::uint64_t max_elements) : max_elements_(max_elements) {}

  std::string name() const override { return host_->name(); }
  std::string device() const override { return host_->device(); }

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    StagingPlan small = plan;
    small.slab_elements = std::min(plan.slab_elements, max_elements_);
    return host_->make_reduce_engine(small, needs);
  }

  std::unique_ptr<HistogramEngine> make_histogram_engine(
      const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) override {
    return host_->make_histogram_engine(plan, bin_keys);
  }

  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                            const AxisReduceSpec& spec) override {
    return host_->make_axis_reduce_engine(plan, spec);
  }

  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                        const AxisScanSpec& spec) override {
    return host_->make_axis_scan_engine(plan, spec);
  }

  std::unique_ptr<ScanEngine> make_scan_engine(const BlockEnginePlan& plan,
                                               const ScanSpec& spec) override {
    return host_->make_scan_engine(plan, spec);
  }

  std::unique_ptr<CompactEngine> make_compact_engine(const BlockEnginePlan& plan,
                                                     bool indices) override {
    return host_->make_compact_engine(plan, indices);
  }

 private:
  std::unique_ptr<Backend> host_ = cpu::make_backend(1);
  std::uint64_t max_elements_;
};

/// A chunked dataset, reduced by ranks whose last one has a small engine.
class SlabPipeline : public testing::Test {
 protected:
  SlabPipeline() {
    GenerateOptions options;
    options.kind = GeneratorKind::iota;
    options.format.type = ElementType::i64;
    options.shape = {200, 90};
    options.storage.chunk_shape = {10, 20};
    options.output = {file_, "values", true, {}};
    expected_sum_ = generate(MPI_COMM_WORLD, options).known_sum;
  }

  ~SlabPipeline() override {
    if (world_.is_root()) std::remove(file_.c_str());
  }

  DatasetView open() const { return {open_everywhere(file_, "values", world_), {}}; }

  SlabSetup set_up(DatasetView& view, std::uint64_t max_elements) {
    static constexpr std::uint64_t plenty = 1 << 20;
    options_.backend = BackendChoice::cpu;
    options_.threads = 2;
    run_.emplace(MPI_COMM_WORLD, options_);
    run_->backend = StartingBackend([this, max_elements] {
      return std::make_unique<SmallBackend>(world_.is_last() ? max_elements : plenty);
    });
    const auto make = [this](Backend& backend, const StagingPlan& plan) {
      std::unique_ptr<ReduceEngine> engine =
          backend.make_reduce_engine(plan, needs_of({Statistic::sum}, ElementType::i64));
      engine_ = engine.get();
      return engine;
    };
    return set_up_slabs(view, make, *run_);
  }

  void expect_right_sum(const SlabSetup& setup, const DatasetView& view) {
    Accumulator mine;
    pass_slabs(
        setup, [&] { mine = engine_->finish(); }, view.info(), *run_);
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
  ReduceEngine* engine_ = nullptr;
};

TEST_F(SlabPipeline, SlabsAreBoxesOfChunksThatEveryEngineHolds) {
  DatasetView view = open();
  const SlabSetup setup = set_up(view, 900);
  EXPECT_TRUE(setup.tiling.in_chunks);
  EXPECT_EQ(setup.tiling.slabs.max_places(), 3u);
  expect_right_sum(setup, view);
}

TEST_F(SlabPipeline, TheLibraryReadsWhereNoChunkFits) {
  DatasetView view = open();
  const SlabSetup setup = set_up(view, 150);
  EXPECT_EQ(view.info().path, ReadPath::library);
  EXPECT_FALSE(setup.tiling.in_chunks);
  EXPECT_LE(setup.tiling.max_elements, 150u);
  expect_right_sum(setup, view);
}

TEST_F(SlabPipeline, APathThatWasAskedForIsNotLeft) {
  DatasetView view = open();
  options_.read_path = ReadPath::direct;
  EXPECT_THROW(set_up(view, 150), Error);
}

}  // namespace
}  // namespace warpfold::pipeline
