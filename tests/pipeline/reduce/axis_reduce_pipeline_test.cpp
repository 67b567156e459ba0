#include "pipeline/reduce/axis_reduce_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/results/summarize.hpp"
#include "pipeline/datasets/matrix_test.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/backend_like_a_gpu.hpp"

namespace warpfold::pipeline {
namespace {

constexpr int turns_of_thread = 3;

/// Has as many reductions of each thread under way, which are threads of the host's engine.
class EngineOfTurns final : public AxisReduceEngine {
 public:
  explicit EngineOfTurns(std::unique_ptr<AxisReduceEngine> host)
      : host_(std::move(host)), turns_(static_cast<std::size_t>(threads())) {}

  int threads() const override { return host_->threads() / turns_of_thread; }
  int under_way() const override { return turns_of_thread; }
  std::uint64_t slab_elements() const override { return host_->slab_elements(); }
  std::vector<StageTiming> timings() const override { return host_->timings(); }

  void begin(int thread, std::uint64_t outputs) override {
    Turns& turns = turns_.at(static_cast<std::size_t>(thread));
    EXPECT_LT(turns.open.size(), static_cast<std::size_t>(turns_of_thread));
    turns.open.push_back(thread * turns_of_thread + turns.begun++ % turns_of_thread);
    host_->begin(turns.open.back(), outputs);
    std::size_t most = most_under_way;
    while (most < turns.open.size() &&
           !most_under_way.compare_exchange_weak(most, turns.open.size()))
      continue;
  }

  Ticket take(int thread) override {
    return host_->take(turns_.at(static_cast<std::size_t>(thread)).open.back());
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    host_->submit(ticket, slab);
  }

  AxisParts finish(int thread) override {
    Turns& turns = turns_.at(static_cast<std::size_t>(thread));
    EXPECT_FALSE(turns.open.empty());
    const int first = turns.open.front();
    turns.open.pop_front();
    return host_->finish(first);
  }

  inline static std::atomic<std::size_t> most_under_way = 0;

 private:
  struct Turns {
    std::deque<int> open;
    int begun = 0;
  };

  std::unique_ptr<AxisReduceEngine> host_;
  std::vector<Turns> turns_;
};

class BackendOfTurns final : public BackendLikeAGpu {
 public:
  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                            const AxisReduceSpec& spec) override {
    StagingPlan all = plan;
    all.threads = turns_of_thread * plan.threads;
    return std::make_unique<EngineOfTurns>(host_->make_axis_reduce_engine(all, spec));
  }
};

class AxisTurns : public MatrixTest {
 protected:
  AxisTurns() : MatrixTest("axis_turns") { EngineOfTurns::most_under_way = 0; }

  /// Returns the sums along an axis.
  std::vector<std::int64_t> sums_along(int axis, std::uint64_t outputs) {
    DatasetView matrix = view();
    const RunOptions options = two_threads();
    pipeline::Run run(MPI_COMM_WORLD, options);
    run.backend = {std::launch::async, [] { return std::make_unique<BackendOfTurns>(); }};
    io::OutputSpec spec = describe_output({file("out"), "sums", true, {}});
    spec.shape = {outputs};
    spec.format = {ElementType::i64, native_byte_order};
    OutputFile out(world_);
    StagedDataset staged(spec, out);
    AxisWriter writer({{Statistic::sum, ElementType::i64, staged.writer()}}, {outputs}, {});
    const std::array<int, 1> axes{axis};
    reduce_rows(matrix, AxisShape(matrix.info().shape, axes),
                needs_of({Statistic::sum}, ElementType::i64), writer, run);
    staged.finish();
    RunReport report;
    out.commit(report, run.monitor.stages());
    std::vector<std::int64_t> sums(outputs);
    open_everywhere(file("out"), "sums", world_)
        .read({0, outputs}, std::as_writable_bytes(std::span(sums)));
    return sums;
  }
};

TEST_F(AxisTurns, ThreadsHaveSeveralTilesUnderWay) {
  const std::vector<std::int64_t> sums = sums_along(1, rows);
  for (std::uint64_t row = 0; row < rows; ++row)
    EXPECT_EQ(sums[row],
              static_cast<std::int64_t>(row * columns * columns + columns * (columns - 1) / 2));
  EXPECT_GT(EngineOfTurns::most_under_way, 2u);
}

TEST_F(AxisTurns, ItemsOfATileThatFollowOneAnotherShareATurn) {
  const std::vector<std::int64_t> sums = sums_along(0, columns);
  for (std::uint64_t column = 0; column < columns; ++column)
    EXPECT_EQ(sums[column],
              static_cast<std::int64_t>(columns * rows * (rows - 1) / 2 + rows * column));
}

}  // namespace
}  // namespace warpfold::pipeline
