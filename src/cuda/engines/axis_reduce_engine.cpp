#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/axis/axis_reduce.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/engines/stream_engine.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/promoted_loader.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// A thread's share of a slab that makes up for loading and storing what its column has reduced.
constexpr std::uint64_t elements_of_thread = 8;

std::uint64_t columns_worth(std::uint64_t slab_elements) {
  return std::min(slab_elements / elements_of_thread, kernels::max_axis_threads);
}

/// A slot's arrays in device memory.
struct SlotArrays {
  kernels::AxisColumns columns;
  AxisSpill* spills;
  kernels::AxisReduceStatus* status;
};

SlotArrays take_arrays(Scratch& scratch, const StagingPlan& plan, const AxisReduceSpec& spec) {
  const ReduceNeeds& needs = spec.needs;
  const std::uint64_t columns = std::max(spec.outputs, columns_worth(plan.slab_elements));
  const auto take_sum = [&](bool needed) {
    return needed ? scratch.take<Expansion>(columns) : nullptr;
  };
  const auto take_extrema = [&] {
    return needs.extrema ? scratch.take<Extremum>(columns) : nullptr;
  };
  return {.columns = {.counts = scratch.take<AxisCounts>(columns),
                      .sum = take_sum(needs.sum),
                      .absolute = take_sum(needs.absolute),
                      .squares = take_sum(needs.squares),
                      .minimum = take_extrema(),
                      .maximum = take_extrema(),
                      .first_nan = scratch.take<std::uint64_t>(columns),
                      .next_place = scratch.take<std::uint64_t>(columns)},
          .spills = scratch.take<AxisSpill>(kernels::axis_spill_capacity(needs)),
          .status = scratch.take<kernels::AxisReduceStatus>(1)};
}

std::uint64_t bytes_of_arrays(const StagingPlan& plan, const AxisReduceSpec& spec) {
  Scratch counter;
  take_arrays(counter, plan, spec);
  return counter.bytes();
}

PromotedLoaderPlan loader_plan(const StagingPlan& plan) {
  return {.slabs = plan, .buffers = 2, .marks_counting = true};
}

/// A thread's slabs on their way through the GPU: one is copied while the host fills the buffer for
/// the next.
class AxisReduceSlot {
 public:
  AxisReduceSlot(const StagingPlan& plan, const AxisReduceSpec& spec, const TimedEvent& epoch)
      : plan_(plan),
        spec_(spec),
        loader_(loader_plan(plan), epoch),
        memory_(bytes_of_arrays(plan, spec)),
        reduces_(epoch) {
    Scratch scratch(memory_.data());
    arrays_ = take_arrays(scratch, plan, spec);
    fill_bytes(arrays_.status, 0, sizeof(*arrays_.status), stream_.get());
    begin(spec.outputs);
  }

  static std::uint64_t device_bytes(const StagingPlan& plan, const AxisReduceSpec& spec) {
    return PromotedLoader::device_bytes(loader_plan(plan)) + bytes_of_arrays(plan, spec);
  }

  std::span<std::byte> buffer() { return loader_.buffer(); }

  void begin(std::uint64_t outputs) {
    if (outputs > spec_.outputs)
      throw Error("a slot can't fold " + std::to_string(outputs) + " outputs",
                  std::to_string(spec_.outputs) + " were planned", "");
    complete();
    spills_ = {};
    reduce_ = {.wide = loader_.wide_type(),
               .needs = spec_.needs,
               .outputs = outputs,
               .groups = std::max<std::uint64_t>(
                   columns_worth(plan_.slab_elements) / std::max<std::uint64_t>(outputs, 1), 1),
               .columns = arrays_.columns,
               .spills = arrays_.spills,
               .status = arrays_.status};
    if (outputs != 0)
      kernels::clear_columns(reduce_.columns, reduce_.outputs * reduce_.groups, stream_.get());
  }

  void submit(const StagedChunks& slab, const BoxIndices& rows) {
    if (slab.target.elements == 0) return;
    complete();
    loader_.load(slab, rows, stream_.get());
    reduce_.elements = loader_.elements();
    reduce_.counting = loader_.counting();
    reduce_.count = slab.target.elements;
    reduce_.rows = loader_.indices();
    reduce_.resumed = false;
    reduce_columns();
  }

  AxisParts finish() {
    complete();
    AxisParts parts(spec_.needs, reduce_.outputs);
    if (reduce_.outputs == 0) return parts;
    kernels::merge_columns(reduce_, stream_.get());
    copy_status();
    stream_.synchronize();
    take_spills();
    download(parts);
    parts.spills = std::exchange(spills_, {});
    return parts;
  }

  void append_copies(std::vector<SpanTimer*>& timers) const { loader_.append_timers(timers); }
  SpanTimer& reduces() { return reduces_; }

 private:
  void reduce_columns() {
    reduces_.begin(stream_.get());
    kernels::reduce_columns(reduce_, stream_.get());
    copy_status();
    reduces_.end(stream_.get(), reduce_.resumed ? 0 : reduce_.count * size_of(plan_.format.type));
    under_way_ = true;
  }

  void copy_status() {
    copy_to_host(&*status_, arrays_.status, sizeof(*arrays_.status), stream_.get());
  }

  /// Completes the reduction of the slab last submitted.
  void complete() {
    if (!under_way_) return;
    under_way_ = false;
    reduces_.wait();
    while (status_->stopped != 0) {
      take_spills();
      reduce_.resumed = true;
      reduce_columns();
      reduces_.wait();
    }
    under_way_ = false;
    take_spills();
  }

  /// Empties the list of spills, given a copy of the status.
  void take_spills() {
    if (status_->spilled == 0) return;
    for (const AxisSpill& spill :
         downloaded_array<AxisSpill>(arrays_.spills, status_->spilled, stream_.get()))
      spills_.add(spill);
    fill_bytes(arrays_.status, 0, sizeof(*arrays_.status), stream_.get());
    *status_ = {};
  }

  void download(AxisParts& parts) {
    const auto copy = [this](auto& to, const auto* from) {
      copy_to_host(to.data(), from, to.size() * sizeof(to[0]), stream_.get());
    };
    const kernels::AxisColumns& columns = reduce_.columns;
    copy(parts.counts, columns.counts);
    copy(parts.sum, columns.sum);
    copy(parts.absolute, columns.absolute);
    copy(parts.squares, columns.squares);
    copy(parts.minimum, columns.minimum);
    copy(parts.maximum, columns.maximum);
    copy(parts.first_nan, columns.first_nan);
    stream_.synchronize();
  }

  StagingPlan plan_;
  AxisReduceSpec spec_;
  PromotedLoader loader_;
  DeviceBuffer memory_;
  SlotArrays arrays_{};
  MappedValue<kernels::AxisReduceStatus> status_;
  kernels::AxisReduce reduce_{};
  bool under_way_ = false;
  AxisSpills spills_;
  SpanTimer reduces_;
  Stream stream_;
};

class CudaAxisReduceEngine final : public SlotEngineOf<AxisReduceEngine, AxisReduceSlot> {
 public:
  CudaAxisReduceEngine(const Device& device, const StagingPlan& plan, const AxisReduceSpec& spec)
      : SlotEngineOf(device,
                     slots_that_fit(plan.slots, AxisReduceSlot::device_bytes(plan, spec),
                                    device.memory_limit(), "fold along axes in"),
                     plan.stages,
                     [&](const TimedEvent& epoch) {
                       return std::make_unique<AxisReduceSlot>(plan, spec, epoch);
                     }),
        slab_elements_(plan.slab_elements) {
    add_stage(stage::reduce, &AxisReduceSlot::reduces);
  }

  std::uint64_t slab_elements() const override { return slab_elements_; }
  void begin(int slot, std::uint64_t outputs) override { at(slot).begin(outputs); }
  void submit(int slot, const StagedChunks& slab, const BoxIndices& rows) override {
    at(slot).submit(slab, rows);
  }
  AxisParts finish(int slot) override { return at(slot).finish(); }

 private:
  std::uint64_t slab_elements_;
};

}  // namespace

std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const Device& device,
                                                          const StagingPlan& plan,
                                                          const AxisReduceSpec& spec) {
  return std::make_unique<CudaAxisReduceEngine>(device, plan, spec);
}

}  // namespace warpfold::cuda
