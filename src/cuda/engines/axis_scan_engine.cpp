#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/scan/line_sum.hpp"
#include "core/scan/scan_spec.hpp"
#include "cuda/axis/axis_scan.hpp"
#include "cuda/chunks/decode_elements.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/axis_layout.hpp"
#include "cuda/staging/slab_batches.hpp"
#include "cuda/staging/slab_flow.hpp"
#include "cuda/staging/staging_buffer.hpp"
#include "cuda/staging/wide_elements.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

ElementType value_type(const StagingPlan& plan) {
  return plan.decoding.value_type(plan.format.type);
}

/// Bits of a wide value.
std::uint64_t identity_of(const StagingPlan& plan, ScanOperation operation) {
  return visit_element_type(value_type(plan), [&](auto element) {
    return value_bits(scan_identity<decltype(element)>(operation));
  });
}

WideningPlan widening(const StagingPlan& plan, const AxisScanSpec& spec) {
  return {.format = plan.format,
          .decoding = plan.decoding,
          .slab_elements = plan.slab_elements,
          .moves = true,
          .left_out = identity_of(plan, spec.scan.operation)};
}

/// A thread's arrays in device memory.
struct ScanArrays {
  std::byte* before;
  std::byte* after;
  std::byte* segment_states;
  std::byte* prefixes;
  bool* inexact;
  kernels::AxisScanStatus* status;
};

ScanArrays take_arrays(Scratch& scratch, const StagingPlan& plan, const AxisScanSpec& spec) {
  const std::uint64_t state =
      kernels::state_bytes(spec.scan.operation, kernels::wide_type(value_type(plan)));
  return {.before = scratch.take<std::byte>(spec.lines * state),
          .after = scratch.take<std::byte>(spec.lines * state),
          .segment_states = scratch.take<std::byte>(kernels::max_segments() * state),
          .prefixes = scratch.take<std::byte>(plan.slab_elements * size_of(spec.scan.output)),
          .inexact = scratch.take<bool>(spec.lines),
          .status = scratch.take<kernels::AxisScanStatus>(1)};
}

std::uint64_t bytes_of_arrays(const StagingPlan& plan, const AxisScanSpec& spec) {
  Scratch counter;
  take_arrays(counter, plan, spec);
  return counter.bytes();
}

AxisMemory memory_for(const StagingPlan& plan, const AxisScanSpec& spec) {
  return {.verb = "scan along an axis",
          .thread_bytes = bytes_of_arrays(plan, spec),
          .turn_bytes = WideElements::device_bytes(widening(plan, spec))};
}

/// Sums of lines of doubles that the device's sums have no room for.
class ExactLines {
 public:
  explicit ExactLines(const ScanSpec& spec) : spec_(spec) {}

  void clear() { sums_.clear(); }
  bool empty() const { return sums_.empty(); }
  bool holds(std::uint64_t line) const { return sums_.contains(line); }

  /// From a slab on whose lines the device has summed to `before` so far.
  void add(std::uint64_t line, const kernels::FloatLineSum& before) {
    using Sum = kernels::FloatLineSum;
    sums_.emplace(line, LineSum(before.finite.exact(), (before.met & Sum::nan) != 0,
                                (before.met & Sum::positive_infinity) != 0,
                                (before.met & Sum::negative_infinity) != 0));
  }

  /// Scans the slab's elements of all these lines.
  void scan(const std::vector<double>& elements, const AxisSlab& shape, std::byte* prefixes) {
    visit_element_type(spec_.output, [&](auto element) {
      using Out = decltype(element);
      if constexpr (is_floating_element<Out>)
        for (auto& [line, sum] : sums_)
          scan_line(line, sum, elements, shape, reinterpret_cast<Out*>(prefixes));
    });
  }

 private:
  template <class Out>
  void scan_line(std::uint64_t line, LineSum& sum, const std::vector<double>& elements,
                 const AxisSlab& shape, Out* prefixes) const {
    std::uint64_t place = line / shape.inner * shape.along * shape.inner + line % shape.inner;
    for (std::uint64_t i = 0; i < shape.along; ++i, place += shape.inner) {
      if (spec_.exclusive) prefixes[place] = sum.rounded<Out>();
      sum.add(elements[place]);
      if (!spec_.exclusive) prefixes[place] = sum.rounded<Out>();
    }
  }

  ScanSpec spec_;
  std::map<std::uint64_t, LineSum> sums_;
};

/// A slab that is under way: its elements in device memory, made wide.
class SubmittedSlab {
 public:
  explicit SubmittedSlab(const WideningPlan& plan) : wide_(plan) {}

  /// A slab of that shape is on its way, or has no elements.
  void expect(const AxisSlab& shape) {
    shape_ = shape;
    arrived_ = shape.elements() == 0;
  }

  void take(const SlabValues& slab, cudaStream_t stream) {
    elements_ = wide_.widen(slab.elements, slab.count, slab.flat, stream);
    made_wide_.record(stream);
    arrived_ = true;
  }

  void load_kernel() const { wide_.load_kernel(); }

  bool has_arrived() const { return arrived_; }
  const AxisSlab& shape() const { return shape_; }

  /// Returns the elements; makes later work in `stream` wait for them.
  const std::byte* elements(cudaStream_t stream) const {
    made_wide_.delay(stream);
    return elements_;
  }

 private:
  WideElements wide_;
  AxisSlab shape_;
  const std::byte* elements_ = nullptr;
  Event made_wide_;
  std::atomic<bool> arrived_ = false;
};

/// Slabs under way, by their places.
using SubmittedSlabs = std::vector<std::unique_ptr<SubmittedSlab>>;

/// Hands a batch's slabs to where they are scanned.
class AxisScanStage final : public SlabStage {
 public:
  explicit AxisScanStage(SubmittedSlabs& slabs) : slabs_(slabs) { slabs_.front()->load_kernel(); }

  void take(const SlabValues& slab, cudaStream_t stream) override {
    if (slab.count > 0) slabs_.at(static_cast<std::size_t>(slab.slot))->take(slab, stream);
  }

 private:
  SubmittedSlabs& slabs_;
};

/// The lines that a thread scans.
class ThreadLines {
 public:
  ThreadLines(const StagingPlan& plan, const AxisScanSpec& spec, const TimedEvent& time_origin)
      : plan_(plan),
        spec_(spec),
        output_(plan.slab_elements * size_of(spec.scan.output), time_origin),
        memory_(bytes_of_arrays(plan, spec)),
        exact_lines_(spec.scan),
        scans_(time_origin) {
    Scratch scratch(memory_.data());
    const ScanArrays arrays = take_arrays(scratch, plan, spec);
    const ElementType values = value_type(plan);
    scan_ = {.wide = kernels::wide_type(values),
             .operation = spec.scan.operation,
             .exclusive = spec.scan.exclusive,
             .checks_overflow = spec.scan.overflow == OverflowPolicy::error && is_integer(values) &&
                                is_integer(spec.scan.output),
             .identity = identity_of(plan, spec.scan.operation),
             .before = arrays.before,
             .after = arrays.after,
             .segment_states = arrays.segment_states,
             .output = spec.scan.output,
             .prefixes = arrays.prefixes,
             .inexact = arrays.inexact,
             .status = arrays.status};
    // Loaded later, they would wait for what batches decompress.
    kernels::load_line_scan(scan_);
  }

  /// Throws Error for a slab that was not planned.
  void validate(const StagedChunks& slab, const AxisSlab& shape) const {
    const std::uint64_t elements = slab.target.elements;
    if (shape.lines() <= spec_.lines && elements == shape.elements() &&
        elements <= plan_.slab_elements)
      return;
    throw Error("a slab of " + std::to_string(elements) + " elements does not fit its lines",
                std::to_string(shape.lines()) + " of " + std::to_string(shape.along) +
                    " elements; planned were " + std::to_string(spec_.lines) + " lines, " +
                    std::to_string(plan_.slab_elements) + " elements",
                "");
  }

  std::span<const std::byte> scan(const SubmittedSlab& slab) {
    *status_ = {.overflow = no_overflow, .inexact_lines = 0};
    scan_.shape = slab.shape();
    if (!scan_.shape.continues()) begin_lines();
    const std::uint64_t elements = scan_.shape.elements();
    if (elements == 0) return {};
    scan_.elements = slab.elements(stream_.get());
    scan_.segments = kernels::segments_of(scan_.shape);
    start_scan();
    const std::span<std::byte> prefixes = download(elements);
    if (status_->inexact_lines != 0 || !exact_lines_.empty()) scan_exactly(elements, prefixes);
    std::swap(scan_.before, scan_.after);
    return prefixes;
  }

  std::optional<std::uint64_t> overflow() const {
    if (status_->overflow == no_overflow) return std::nullopt;
    return status_->overflow;
  }

  SpanTimer& scans() { return scans_; }
  SpanTimer& outputs() { return output_.copies(); }

 private:
  static constexpr unsigned long long no_overflow = ~0ull;

  void begin_lines() {
    exact_lines_.clear();
    scan_.lines = scan_.shape.lines();
    kernels::begin_lines(scan_, stream_.get());
  }

  void start_scan() {
    scans_.begin(stream_.get());
    fill_bytes(scan_.inexact, 0, scan_.lines * sizeof(bool), stream_.get());
    copy_to_device(scan_.status, &*status_, sizeof(*scan_.status), stream_.get());
    kernels::scan_lines(scan_, stream_.get());
    copy_to_host(&*status_, scan_.status, sizeof(*scan_.status), stream_.get());
    scans_.end(stream_.get(), 0);
  }

  /// Brings the prefixes to the host, and the status.
  std::span<std::byte> download(std::uint64_t elements) {
    const std::uint64_t bytes = elements * size_of(spec_.scan.output);
    const std::span<std::byte> memory = output_.memory();
    output_.begin_copy(stream_.get());
    copy_to_host(memory.data(), scan_.prefixes, bytes, stream_.get());
    output_.end_copy(stream_.get(), bytes);
    stream_.synchronize();
    return memory.first(bytes);
  }

  /// Corrects the prefixes of the lines whose sums the device can't keep.
  void scan_exactly(std::uint64_t elements, std::span<std::byte> prefixes) {
    if (status_->inexact_lines != 0) {
      const auto before =
          downloaded_array<kernels::FloatLineSum>(scan_.before, scan_.lines, stream_.get());
      const auto inexact =
          downloaded_array<std::uint8_t>(scan_.inexact, scan_.lines, stream_.get());
      for (std::uint64_t line = 0; line < scan_.lines; ++line)
        if (inexact[line] != 0 && !exact_lines_.holds(line)) exact_lines_.add(line, before[line]);
    }
    exact_lines_.scan(downloaded_array<double>(scan_.elements, elements, stream_.get()),
                      scan_.shape, prefixes.data());
  }

  StagingPlan plan_;
  AxisScanSpec spec_;
  StagingBuffer output_;
  DeviceBuffer memory_;
  MappedValue<kernels::AxisScanStatus> status_;
  kernels::AxisScan scan_{};
  ExactLines exact_lines_;
  SpanTimer scans_;
  Stream stream_;
};

class CudaAxisScanEngine final : public AxisScanEngine {
 public:
  CudaAxisScanEngine(const Device& device, const StagingPlan& plan, const AxisScanSpec& spec,
                     const AxisLayout& layout, const AxisMemory& memory)
      : device_(device),
        under_way_(layout.under_way),
        time_origin_(make_time_origin()),
        threads_(make_threads(plan, spec, layout)),
        slabs_(make_slabs(plan, spec, layout)),
        flow_(device, without_decoding(plan), purpose_of(memory), layout.slabs, 2, stage::scan,
              timers(&ThreadLines::scans), time_origin_,
              [&] { return std::make_unique<AxisScanStage>(slabs_); }) {
    flow_.show(stage::copy_from_gpu, timers(&ThreadLines::outputs));
  }

  int threads() const override { return flow_.threads(); }
  int under_way() const override { return under_way_; }
  bool decompresses() const override { return flow_.layout().decompresses; }
  std::vector<StageTiming> timings() const override { return flow_.timings(); }

  Ticket take(int thread, const AxisSlab& shape) override {
    Ticket ticket = flow_.take(thread);
    ticket.slot = at(thread).turns.next();
    slab_at(ticket.slot).expect(shape);
    return ticket;
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    Thread& by = at(ticket.thread);
    by.lines->validate(slab, slab_at(ticket.slot).shape());
    flow_.submit(ticket, slab);
    by.turns.begin();
  }

  std::optional<std::span<const std::byte>> scan(int thread) override {
    Thread& by = at(thread);
    const SubmittedSlab& slab = slab_at(by.turns.first());
    flow_.batches().finish_until([&] { return slab.has_arrived(); });
    if (!slab.has_arrived()) return std::nullopt;
    by.turns.end();
    return by.lines->scan(slab);
  }

  std::optional<std::uint64_t> overflow(int thread) const override {
    return threads_.at(static_cast<std::size_t>(thread)).lines->overflow();
  }

 private:
  struct Thread {
    std::unique_ptr<ThreadLines> lines;
    ThreadTurns turns;
  };

  std::vector<Thread> make_threads(const StagingPlan& plan, const AxisScanSpec& spec,
                                   const AxisLayout& layout) const {
    std::vector<Thread> threads;
    for (int thread = 0; thread < layout.slabs.slots; ++thread)
      threads.push_back({std::make_unique<ThreadLines>(plan, spec, time_origin_),
                         ThreadTurns(thread, layout.under_way)});
    return threads;
  }

  static SubmittedSlabs make_slabs(const StagingPlan& plan, const AxisScanSpec& spec,
                                   const AxisLayout& layout) {
    SubmittedSlabs slabs;
    for (int place = 0; place < layout.slabs.slots * layout.under_way; ++place)
      slabs.push_back(std::make_unique<SubmittedSlab>(widening(plan, spec)));
    return slabs;
  }

  std::vector<SpanTimer*> timers(SpanTimer& (ThreadLines::*timer)()) const {
    std::vector<SpanTimer*> timers;
    for (const Thread& thread : threads_) timers.push_back(&((*thread.lines).*timer)());
    return timers;
  }

  SubmittedSlab& slab_at(int place) const { return *slabs_.at(static_cast<std::size_t>(place)); }

  /// Returns a thread's state and makes its device current.
  Thread& at(int thread) {
    device_.activate();
    return threads_.at(static_cast<std::size_t>(thread));
  }

  Device device_;
  int under_way_;
  TimedEvent time_origin_;
  std::vector<Thread> threads_;
  SubmittedSlabs slabs_;
  SlabFlow flow_;
};

}  // namespace

std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const Device& device, const StagingPlan& plan,
                                                      const AxisScanSpec& spec) {
  const AxisMemory memory = memory_for(plan, spec);
  const AxisLayout layout = layout_of(plan, memory, spec.under_way, device.memory_limit());
  return std::make_unique<CudaAxisScanEngine>(device, plan, spec, layout, memory);
}

}  // namespace warpfold::cuda
