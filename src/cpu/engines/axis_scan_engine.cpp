#include <algorithm>
#include <condition_variable>
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
  SharedLines(const AxisSlab& slab, std::uint64_t wanted_parts, const MakeScanner& make) {
    const bool by_outer = slab.outer > slab.inner;
    const std::uint64_t most = by_outer ? slab.outer : slab.inner;
    const auto parts = static_cast<std::size_t>(std::min(wanted_parts, most));
    for (std::size_t p = 0; p < parts; ++p) {
      const ElementRange range = partition(most, 1, parts, p);
      const LinePart part =
          by_outer ? LinePart{range, {0, slab.inner}} : LinePart{{0, slab.outer}, range};
      parts_.push_back({part, make()});
    }
  }

  std::size_t parts() const { return parts_.size(); }

  /// Wait for the part's turn, scan it, and let the next one come; the last two between the others.
  bool waits(std::size_t part, std::uint64_t turn) const { return parts_[part].turn < turn; }
  std::optional<std::uint64_t> scan(std::size_t part, const AxisSlab& slab, const std::byte* in,
                                    std::byte* out) {
    Part& here = parts_[part];
    if (!slab.continues()) here.scanner->begin(here.lines.lines());
    return here.scanner->scan(in, slab, here.lines, out);
  }
  void finish(std::size_t part, std::uint64_t turn) { parts_[part].turn = turn + 1; }

  /// No slab from this turn on is scanned.
  void end_before(std::uint64_t turn) { end_ = std::min(end_, turn); }
  bool ended(std::uint64_t turn) const { return turn >= end_; }

 private:
  struct Part {
    LinePart lines;
    std::unique_ptr<AxisScanner> scanner;
    std::uint64_t turn = 0;
  };

  std::vector<Part> parts_;
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
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
    for (std::size_t part = 0; part < lines->parts(); ++part)
      if (!scan_part(*lines, part, thread)) return std::nullopt;
    return here.out.span().first(here.shape.elements() * output_bytes_);
  }

  std::optional<std::uint64_t> overflow(int thread) const override {
    if (spec_.overflow == OverflowPolicy::wrap) return std::nullopt;
    return threads_[static_cast<std::size_t>(thread)].unfit;
  }

  void leave_out(const AxisSlab& slab) override {
    const std::shared_ptr<SharedLines> lines = lines_of(slab);
    const std::lock_guard lock(mutex_);
    lines->end_before(slab.turn);
    changed_.notify_all();
  }

  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
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
    if (!lines)
      lines = std::make_shared<SharedLines>(slab, parts_per_thread * threads_.size(),
                                            [this] { return make_axis_scanner(kernels_, spec_); });
    return lines;
  }

  bool scan_part(SharedLines& lines, std::size_t part, int thread) {
    Thread& here = at(thread);
    const AxisSlab& slab = here.shape;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return stopped_ || lines.ended(slab.turn) || !lines.waits(part, slab.turn);
      });
      if (stopped_ || lines.ended(slab.turn)) return false;
    }
    const auto unfit = lines.scan(part, slab, inputs_.elements(thread), here.out.span().data());
    if (unfit) here.unfit = std::min(here.unfit.value_or(*unfit), *unfit);
    const std::lock_guard lock(mutex_);
    lines.finish(part, slab.turn);
    if (slab.ends && part + 1 == lines.parts()) lines_.erase(slab.tile);
    changed_.notify_all();
    return true;
  }

  /// So that threads seldom wait for one another.
  static constexpr std::uint64_t parts_per_thread = 4;

  const Kernels& kernels_;
  BlockInputs inputs_;
  ScanSpec spec_;
  std::size_t output_bytes_;
  std::vector<Thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, std::shared_ptr<SharedLines>> lines_;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<AxisScanEngine> HostBackend::make_axis_scan_engine(const StagingPlan& plan,
                                                                   const AxisScanSpec& spec) {
  return made<HostAxisScanEngine>(plan, kernels_, plan, spec.scan);
}

}  // namespace warpfold::cpu
