#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/scan/line_sum.hpp"
#include "core/scan/scan_spec.hpp"
#include "cuda/axis/axis_scan.hpp"
#include "cuda/chunks/promoted_elements.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/engines/stream_engine.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/chunk_loader.hpp"
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
          .left_out = identity_of(plan, spec.scan.operation)};
}

/// A slot's arrays in device memory.
struct SlotArrays {
  std::byte* stored;
  std::byte* before;
  std::byte* after;
  std::byte* segment_states;
  std::byte* prefixes;
  bool* inexact;
  kernels::AxisScanStatus* status;
};

SlotArrays take_arrays(Scratch& scratch, const StagingPlan& plan, const AxisScanSpec& spec) {
  const std::uint64_t state =
      kernels::state_bytes(spec.scan.operation, kernels::wide_type(value_type(plan)));
  return {.stored = scratch.take<std::byte>(plan.slab_elements * size_of(plan.format.type)),
          .before = scratch.take<std::byte>(spec.lines * state),
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

/// Sums of lines of doubles that the device's expansions have no room for.
class ExactLines {
 public:
  explicit ExactLines(const ScanSpec& spec) : spec_(spec) {}

  void clear() { sums_.clear(); }
  bool empty() const { return sums_.empty(); }
  bool holds(std::uint64_t line) const { return sums_.contains(line); }

  /// From a slab on whose lines the device has summed to `before` so far.
  void add(std::uint64_t line, const kernels::FloatLineSum& before) {
    using Sum = kernels::FloatLineSum;
    sums_.emplace(line, LineSum(before.finite, (before.met & Sum::nan) != 0,
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

/// A thread's slabs on their way through the GPU and back.
class AxisScanSlot {
 public:
  AxisScanSlot(const StagingPlan& plan, const AxisScanSpec& spec, const TimedEvent& epoch)
      : plan_(plan),
        spec_(spec.scan),
        lines_(spec.lines),
        staging_(ChunkLoader::buffer_bytes(plan.slot_bytes()), epoch),
        chunks_({.staging_bytes = plan.slot_bytes()}),
        wide_(widening(plan, spec)),
        output_(plan.slab_elements * size_of(spec.scan.output), epoch),
        memory_(bytes_of_arrays(plan, spec)),
        exact_lines_(spec.scan),
        scans_(epoch) {
    Scratch scratch(memory_.data());
    arrays_ = take_arrays(scratch, plan, spec);
    begin(spec.lines);
  }

  static std::uint64_t device_bytes(const StagingPlan& plan, const AxisScanSpec& spec) {
    return ChunkLoader::device_bytes({.staging_bytes = plan.slot_bytes()}) +
           WideElements::device_bytes(widening(plan, spec)) + bytes_of_arrays(plan, spec);
  }

  std::span<std::byte> buffer() {
    staging_.wait();
    return staging_.memory().first(plan_.slot_bytes());
  }

  void begin(std::uint64_t lines) {
    if (lines > lines_)
      throw Error("a slot can't scan " + std::to_string(lines) + " lines",
                  std::to_string(lines_) + " were planned", "");
    exact_lines_.clear();
    scan_ = {.wide = wide_.type(),
             .lines = lines,
             .operation = spec_.operation,
             .exclusive = spec_.exclusive,
             .checks_overflow = spec_.overflow == OverflowPolicy::error &&
                                is_integer(value_type(plan_)) && is_integer(spec_.output),
             .identity = identity_of(plan_, spec_.operation),
             .before = arrays_.before,
             .after = arrays_.after,
             .segment_states = arrays_.segment_states,
             .output = spec_.output,
             .prefixes = arrays_.prefixes,
             .inexact = arrays_.inexact,
             .status = arrays_.status};
    kernels::begin_lines(scan_, stream_.get());
  }

  std::span<const std::byte> scan(const StagedChunks& slab, const AxisSlab& shape) {
    *status_ = {.overflow = no_overflow, .inexact_lines = 0};
    const std::uint64_t elements = slab.target.elements;
    if (elements == 0) return {};
    validate(elements, shape);
    chunks_.clear();
    chunks_.copy(staging_, slab, {}, size_of(plan_.format.type), stream_.get());
    chunks_.assemble(0, arrays_.stored, stream_.get());
    scan_.elements = wide_.widen(arrays_.stored, elements, stream_.get());
    scan_.shape = shape;
    scan_.segments = kernels::segments_of(shape);
    start_scan(elements);
    const std::span<std::byte> prefixes = download(elements);
    if (status_->inexact_lines != 0 || !exact_lines_.empty()) scan_exactly(elements, prefixes);
    std::swap(scan_.before, scan_.after);
    return prefixes;
  }

  std::optional<std::uint64_t> overflow() const {
    if (status_->overflow == no_overflow) return std::nullopt;
    return status_->overflow;
  }

  SpanTimer& copies() { return staging_.copies(); }
  SpanTimer& scans() { return scans_; }
  SpanTimer& outputs() { return output_.copies(); }

 private:
  static constexpr unsigned long long no_overflow = ~0ull;

  void validate(std::uint64_t elements, const AxisSlab& shape) const {
    if (shape.lines() == scan_.lines && elements == scan_.lines * shape.along &&
        elements <= plan_.slab_elements)
      return;
    throw Error("a slab of " + std::to_string(elements) + " elements does not fit its lines",
                std::to_string(scan_.lines) + " of " + std::to_string(shape.along) + " elements, " +
                    std::to_string(plan_.slab_elements) + " at most",
                "");
  }

  void start_scan(std::uint64_t elements) {
    scans_.begin(stream_.get());
    fill_bytes(arrays_.inexact, 0, scan_.lines * sizeof(bool), stream_.get());
    copy_to_device(arrays_.status, &*status_, sizeof(*arrays_.status), stream_.get());
    kernels::scan_lines(scan_, stream_.get());
    copy_to_host(&*status_, arrays_.status, sizeof(*arrays_.status), stream_.get());
    scans_.end(stream_.get(), elements * size_of(plan_.format.type));
  }

  /// Brings the prefixes to the host, and the status.
  std::span<std::byte> download(std::uint64_t elements) {
    const std::uint64_t bytes = elements * size_of(spec_.output);
    const std::span<std::byte> memory = output_.memory();
    output_.begin_copy(stream_.get());
    copy_to_host(memory.data(), arrays_.prefixes, bytes, stream_.get());
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
  ScanSpec spec_;
  std::uint64_t lines_;
  StagingBuffer staging_;
  ChunkLoader chunks_;
  WideElements wide_;
  StagingBuffer output_;
  DeviceBuffer memory_;
  SlotArrays arrays_{};
  MappedValue<kernels::AxisScanStatus> status_;
  kernels::AxisScan scan_{};
  ExactLines exact_lines_;
  SpanTimer scans_;
  Stream stream_;
};

class CudaAxisScanEngine final : public SlotEngineOf<AxisScanEngine, AxisScanSlot> {
 public:
  CudaAxisScanEngine(const Device& device, const StagingPlan& plan, const AxisScanSpec& spec)
      : SlotEngineOf(device,
                     slots_that_fit(plan.slots, AxisScanSlot::device_bytes(plan, spec),
                                    device.memory_limit(), "scan along an axis in"),
                     plan.stages, [&](const TimedEvent& epoch) {
                       return std::make_unique<AxisScanSlot>(plan, spec, epoch);
                     }) {
    add_stage(stage::copy_to_gpu, &AxisScanSlot::copies);
    add_stage(stage::scan, &AxisScanSlot::scans);
    add_stage(stage::copy_from_gpu, &AxisScanSlot::outputs);
  }

  void begin(int slot, std::uint64_t lines) override { at(slot).begin(lines); }
  std::span<const std::byte> scan(int slot, const StagedChunks& slab,
                                  const AxisSlab& shape) override {
    return at(slot).scan(slab, shape);
  }
  std::optional<std::uint64_t> overflow(int slot) const override { return at(slot).overflow(); }
};

}  // namespace

std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const Device& device, const StagingPlan& plan,
                                                      const AxisScanSpec& spec) {
  return std::make_unique<CudaAxisScanEngine>(device, plan, spec);
}

}  // namespace warpfold::cuda
