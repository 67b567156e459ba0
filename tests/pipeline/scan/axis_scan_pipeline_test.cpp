#include "pipeline/scan/axis_scan_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/datasets/matrix_test.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/backend_like_a_gpu.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr int slabs_ahead = 3;

/// Scans slabs when it is asked to, not when they come.
class EngineAhead final : public AxisScanEngine {
 public:
  EngineAhead(std::unique_ptr<AxisScanEngine> host, int threads)
      : host_(std::move(host)), threads_(static_cast<std::size_t>(threads)) {}

  int threads() const override { return host_->threads(); }
  int under_way() const override { return slabs_ahead; }
  std::vector<StageTiming> timings() const override { return host_->timings(); }

  Ticket take(int thread, const AxisSlab& shape) override {
    of(thread).shape = shape;
    return host_->take(thread, shape);
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    auto& [shape, slabs] = of(ticket.thread);
    slabs.push_back({shape,
                     {slab.chunks.begin(), slab.chunks.end()},
                     slab,
                     {ticket.memory.begin(), ticket.memory.end()}});
    std::size_t most = most_under_way;
    while (most < slabs.size() && !most_under_way.compare_exchange_weak(most, slabs.size()))
      continue;
  }

  std::optional<std::span<const std::byte>> scan(int thread) override {
    Slab slab = std::move(of(thread).under_way.front());
    of(thread).under_way.pop_front();
    const Ticket ticket = host_->take(thread, slab.shape);
    std::ranges::copy(slab.bytes, ticket.memory.begin());
    slab.staged.chunks = slab.chunks;
    host_->submit(ticket, slab.staged);
    return host_->scan(thread);
  }

  std::optional<std::uint64_t> overflow(int thread) const override {
    return host_->overflow(thread);
  }

  inline static std::atomic<std::size_t> most_under_way = 0;

 private:
  struct Slab {
    AxisSlab shape;
    std::vector<StagedChunk> chunks;
    StagedChunks staged;
    std::vector<std::byte> bytes;
  };
  struct Thread {
    AxisSlab shape;  ///< shape of the slab taken last
    std::deque<Slab> under_way;
  };

  Thread& of(int thread) { return threads_[static_cast<std::size_t>(thread)]; }

  std::unique_ptr<AxisScanEngine> host_;
  std::vector<Thread> threads_;
};

class BackendAhead final : public BackendLikeAGpu {
 public:
  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                        const AxisScanSpec& spec) override {
    return std::make_unique<EngineAhead>(host_->make_axis_scan_engine(plan, spec), plan.threads);
  }
};

class ScanAhead : public MatrixTest {
 protected:
  ScanAhead() : MatrixTest("scan_ahead") { EngineAhead::most_under_way = 0; }

  /// Return the sum of a column, or of a row, up to an element and with it.
  static std::uint64_t sum_down_to(std::uint64_t row, std::uint64_t column) {
    return columns * row * (row + 1) / 2 + (row + 1) * column;
  }
  static std::uint64_t sum_across_to(std::uint64_t row, std::uint64_t column) {
    return (column + 1) * row * columns + column * (column + 1) / 2;
  }

  /// Returns the prefixes along an axis.
  std::vector<std::int64_t> prefixes_along(int axis, ElementType output = ElementType::i64) {
    DatasetView matrix = view();
    const RunOptions options = two_threads();
    pipeline::Run run(MPI_COMM_WORLD, options);
    run.backend = {std::launch::async, [] { return std::make_unique<BackendAhead>(); }};
    io::OutputSpec spec = describe_output({file("out"), "prefixes", true, {}});
    spec.shape = {rows, columns};
    spec.format = {output, native_byte_order};
    OutputFile out(world_);
    StagedDataset staged(spec, out);
    const std::array<int, 1> axes{axis};
    scan_lines(matrix,
               {{ElementType::i64}, ScanOperation::sum, false, output, OverflowPolicy::error},
               AxisShape(matrix.info().shape, axes), *staged.writer(), run);
    staged.finish();
    RunReport report;
    out.commit(report, run.monitor.stages());
    std::vector<std::int64_t> prefixes(rows * columns);
    open_everywhere(file("out"), "prefixes", world_)
        .read({0, prefixes.size()}, std::as_writable_bytes(std::span(prefixes)));
    return prefixes;
  }
};

TEST_F(ScanAhead, SlabsOfALineAreScannedInTheirOrder) {
  const std::vector<std::int64_t> prefixes = prefixes_along(0);
  for (std::uint64_t i = 0; i < prefixes.size(); ++i)
    ASSERT_EQ(prefixes[i], static_cast<std::int64_t>(sum_down_to(i / columns, i % columns)));
  EXPECT_EQ(EngineAhead::most_under_way, std::size_t{slabs_ahead});
}

TEST_F(ScanAhead, TilesFollowOneAnother) {
  const std::vector<std::int64_t> prefixes = prefixes_along(1);
  for (std::uint64_t i = 0; i < prefixes.size(); ++i)
    ASSERT_EQ(prefixes[i], static_cast<std::int64_t>(sum_across_to(i / columns, i % columns)));
}

TEST_F(ScanAhead, NamesTheFirstPrefixThatDoesNotFit) {
  try {
    prefixes_along(0, ElementType::i16);
    FAIL() << "all prefixes fit";
  } catch (const Error& error) {
    std::uint64_t first = 0;
    while (sum_down_to(first / columns, first % columns) <= 0x7fff) ++first;
    EXPECT_EQ(error.problem(), "the scan overflows at index " + std::to_string(first));
  }
}

}  // namespace
}  // namespace warpfold::pipeline
