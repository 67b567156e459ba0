#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/layout/partition.hpp"
#include "cpu/engines/host_backend.hpp"
#include "cpu/engines/host_block_engine.hpp"
#include "cpu/scan/axis_scanner.hpp"

namespace warpfold::cpu {
namespace {

/// The parts of some lines, which slabs go through one behind another.
class SharedLines {
 public:
  template <class MakeScanner>
  SharedLines(const AxisSlab& slab, std::uint64_t wanted_parts, const MakeScanner& make)
      : parts_(std::min(wanted_parts, std::max(slab.outer, slab.inner))) {
    const bool by_outer = slab.outer > slab.inner;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const ElementRange range = partition(by_outer ? slab.outer : slab.inner, 1, parts_.size(), p);
      parts_[p].lines =
          by_outer ? LinePart{range, {0, slab.inner}} : LinePart{{0, slab.outer}, range};
      parts_[p].scanner = make();
    }
  }

  std::size_t parts() const { return parts_.size(); }

  /// Waits for a part's turn; returns false if it never comes.
  bool await(std::size_t part, std::uint64_t turn) const {
    const Part& here = parts_[part];
    while (true) {
      const std::uint32_t seen = here.changes;
      if (turn >= end_) return false;
      if (here.turn >= turn) return true;
      here.changes.wait(seen);
    }
  }

  /// To be called by the thread whose turn it is. Returns the first element of the slab whose
  /// prefix the output type can't hold, if any, and lets the next turn come.
  std::optional<std::uint64_t> scan(std::size_t part, const AxisSlab& slab, const std::byte* in,
                                    std::byte* out) {
    Part& here = parts_[part];
    if (!slab.continues()) here.scanner->begin(here.lines.lines());
    const auto unfit = here.scanner->scan(in, slab, here.lines, out);
    ++here.turn;
    here.change();
    return unfit;
  }

  /// Ends the turns from this one on.
  void end_before(std::uint64_t turn) {
    std::uint64_t end = end_;
    while (turn < end && !end_.compare_exchange_weak(end, turn)) continue;
    for (Part& part : parts_) part.change();
  }

 private:
  /// Each is waited for by itself: threads that wait for another part sleep on.
  struct alignas(64) Part {
    LinePart lines = {};
    std::unique_ptr<AxisScanner> scanner;
    std::atomic<std::uint64_t> turn = 0;
    std::atomic<std::uint32_t> changes = 0;

    void change() {
      ++changes;
      changes.notify_all();
    }
  };

  std::vector<Part> parts_;
  std::atomic<std::uint64_t> end_ = std::numeric_limits<std::uint64_t>::max();
};

/// Threads bring slabs of the same lines, and follow one another through the parts of these.
class HostAxisScanEngine final : public AxisScanEngine {
 public:
  HostAxisScanEngine(const Kernels& kernels, const StagingPlan& plan, ScanSpec spec)
      : kernels_(kernels),
        inputs_(kernels, plan, held_by_scan(plan), decoders_of_scan(kernels, plan, spec.operation),
                plan.slab_elements, plan.threads),
        spec_(spec),
        output_bytes_(size_of(spec.output)) {
    spec_.input = inputs_.format();
    for (int thread = 0; thread < plan.threads; ++thread)
      threads_.push_back({PageBuffer(plan.slab_elements * output_bytes_)});
  }

  int threads() const override { return static_cast<int>(threads_.size()); }
  std::vector<StageTiming> timings() const override { return {}; }
  bool shares_lines() const override { return true; }

  Ticket take(int thread, const AxisSlab& shape) override {
    at(thread).shape = shape;
    return inputs_.take(thread, thread, {});
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    inputs_.submit(ticket, slab);
  }

  std::optional<std::span<const std::byte>> scan(int thread) override {
    Thread& here = at(thread);
    here.unfit.reset();
    const std::shared_ptr<SharedLines> lines = lines_of(here.shape);
    for (std::size_t part = 0; part < lines->parts(); ++part) {
      if (!lines->await(part, here.shape.turn)) return std::nullopt;
      const auto unfit =
          lines->scan(part, here.shape, inputs_.elements(thread), here.out.span().data());
      if (unfit) here.unfit = std::min(here.unfit.value_or(*unfit), *unfit);
    }
    if (here.shape.ends) forget_lines(here.shape.tile);
    return here.out.span().first(here.shape.elements() * output_bytes_);
  }

  std::optional<std::uint64_t> overflow(int thread) const override {
    if (spec_.overflow == OverflowPolicy::wrap) return std::nullopt;
    return threads_[static_cast<std::size_t>(thread)].unfit;
  }

  void leave_out(const AxisSlab& slab) override { lines_of(slab)->end_before(slab.turn); }

  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [tile, lines] : lines_) lines->end_before(0);
  }

 private:
  struct Thread {
    PageBuffer out;
    AxisSlab shape = {};
    std::optional<std::uint64_t> unfit = std::nullopt;
  };

  Thread& at(int thread) { return threads_[static_cast<std::size_t>(thread)]; }

  std::shared_ptr<SharedLines> lines_of(const AxisSlab& slab) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<SharedLines>& lines = lines_[slab.tile];
    if (!lines) {
      lines = std::make_shared<SharedLines>(slab, parts_per_thread * threads_.size(),
                                            [this] { return make_axis_scanner(kernels_, spec_); });
      if (stopped_) lines->end_before(0);
    }
    return lines;
  }

  void forget_lines(std::uint64_t tile) {
    const std::lock_guard lock(mutex_);
    lines_.erase(tile);
  }

  /// So that threads seldom wait for one another.
  static constexpr std::uint64_t parts_per_thread = 4;

  const Kernels& kernels_;
  BlockInputs inputs_;
  ScanSpec spec_;
  std::size_t output_bytes_;
  std::vector<Thread> threads_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<SharedLines>> lines_;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<AxisScanEngine> HostBackend::make_axis_scan_engine(const StagingPlan& plan,
                                                                   const AxisScanSpec& spec) {
  return made<HostAxisScanEngine>(plan, kernels_, plan, spec.scan);
}

}  // namespace warpfold::cpu
