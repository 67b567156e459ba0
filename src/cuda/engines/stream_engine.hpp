#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/stream_engines.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/staging/slab_batches.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

/// Returns how many of the `wanted` slots there is memory for. Throws Error where there is none for
/// one; `work` is what they do.
inline int slots_that_fit(int wanted, std::uint64_t slot_bytes, std::uint64_t limit,
                          const std::string& work) {
  const std::uint64_t fitting = limit / slot_bytes;
  if (fitting == 0)
    throw Error(
        "the GPU memory allowed is too little to " + work,
        std::to_string(limit) + " bytes, and one thread's slabs take " + std::to_string(slot_bytes),
        "Raise `device_memory_bytes` to " + std::to_string(slot_bytes) +
            " or more, or give a smaller `slab_bytes`.");
  return static_cast<int>(
      std::min<std::uint64_t>(fitting, static_cast<unsigned>(std::max(wanted, 1))));
}

/// A SlotEngine whose Slots, which have a buffer(), share nothing.
template <class Engine, class Slot>
class SlotEngineOf : public Engine {
 public:
  int slots() const final { return static_cast<int>(slots_.size()); }
  std::span<std::byte> buffer(int slot) final { return at(slot).buffer(); }
  std::vector<StageTiming> timings() const final {
    device_.activate();
    return timings_of(stages_);
  }

 protected:
  /// Slots are make_slot(epoch).
  template <class MakeSlot>
  SlotEngineOf(const Device& device, int slots, StageRegistry* registry, MakeSlot&& make_slot)
      : device_(device), registry_(registry) {
    start_timing(epoch_);
    for (int slot = 0; slot < slots; ++slot) slots_.push_back(make_slot(epoch_));
  }

  /// Shows a stage that timer(slot) of each slot measures.
  void add_stage(const char* name, SpanTimer& (Slot::*timer)()) {
    std::vector<SpanTimer*> timers;
    for (const auto& slot : slots_) timers.push_back(&((*slot).*timer)());
    stages_.push_back(std::make_unique<TimedStage>(name, timers, registry_));
  }

  /// Returns a slot and makes its device current.
  Slot& at(int slot) const {
    device_.activate();
    return *slots_.at(static_cast<std::size_t>(slot));
  }

 private:
  Device device_;
  StageRegistry* registry_;
  TimedEvent epoch_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<TimedStage>> stages_;
};

/// Returns the stages of an engine whose slabs go through buffers that `copies` time, to batches.
inline std::vector<std::unique_ptr<TimedStage>> slab_stages(const std::vector<SpanTimer*>& copies,
                                                            const SlabBatches& batches,
                                                            bool inflates,
                                                            StageRegistry* registry) {
  std::vector<SpanTimer*> inflating;
  std::vector<SpanTimer*> working;
  for (const auto& batch : batches.all()) {
    inflating.push_back(&batch->inflating());
    working.push_back(&batch->working());
  }
  std::vector<std::unique_ptr<TimedStage>> stages;
  stages.push_back(std::make_unique<TimedStage>(stage::copy_to_gpu, copies, registry));
  if (inflates) stages.push_back(std::make_unique<TimedStage>(stage::inflate, inflating, registry));
  stages.push_back(std::make_unique<TimedStage>(stage::reduce, working, registry));
  return stages;
}

/// A ResultEngine whose batches each have a Stage (a SlabStage).
template <class Result, class Stage>
class ResultEngineOf : public ResultEngine<Result> {
 public:
  int slots() const final { return layout_.slots; }
  std::span<std::byte> buffer(int slot) final {
    StagingBuffer& staging = at(slot);
    staging.wait();
    return staging.memory().first(layout_.slot.staging_bytes);
  }
  std::uint64_t slab_elements() const final { return layout_.slot.elements; }
  bool inflates() const final { return layout_.inflates; }
  bool is_ready(int slot) final { return at(slot).is_free() && batches_->is_ready(); }
  void proceed() final {
    device_.activate();
    batches_->proceed();
  }
  void flush() final {
    device_.activate();
    batches_->flush();
  }
  void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) final {
    StagingBuffer& staging = at(slot);
    if (slab.target.elements > 0) batches_->submit(slot, staging, slab, indices);
  }
  std::vector<StageTiming> timings() const final {
    device_.activate();
    return timings_of(stages_);
  }

 protected:
  /// The stages are make_stage(slot layout).
  template <class MakeStage>
  ResultEngineOf(const Device& device, const StagingPlan& plan, const SlabPurpose& purpose,
                 const SlabLayout& layout, MakeStage&& make_stage)
      : device_(device), layout_(layout) {
    start_timing(epoch_);
    const std::uint64_t bytes =
        plan.staging == Staging::chunks
            ? ChunkLoader::buffer_bytes(layout.slot.staging_bytes, layout.loader.slab_chunks)
            : layout.slot.staging_bytes;
    std::vector<SpanTimer*> copies;
    for (int slot = 0; slot < layout.slots; ++slot) {
      staging_.push_back(std::make_unique<StagingBuffer>(bytes, epoch_));
      copies.push_back(&staging_.back()->copies());
    }
    std::vector<std::unique_ptr<SlabBatch>> batches;
    for (int batch = 0; batch < layout.batches; ++batch)
      batches.push_back(
          std::make_unique<SlabBatch>(plan, purpose, layout, make_stage(layout.slot), epoch_));
    batches_.emplace(std::move(batches), layout.inflates);
    stages_ = slab_stages(copies, *batches_, layout.inflates, plan.stages);
  }

  /// Starts what is left, and returns all batches.
  const std::vector<std::unique_ptr<SlabBatch>>& finished_batches() {
    device_.activate();
    batches_->finish();
    return batches_->all();
  }

  static Stage& stage_of(SlabBatch& batch) { return static_cast<Stage&>(batch.stage()); }

 private:
  StagingBuffer& at(int slot) const {
    device_.activate();
    return *staging_.at(static_cast<std::size_t>(slot));
  }

  Device device_;
  SlabLayout layout_;
  TimedEvent epoch_;
  std::vector<std::unique_ptr<StagingBuffer>> staging_;  ///< by slot
  std::optional<SlabBatches> batches_;
  std::vector<std::unique_ptr<TimedStage>> stages_;
};

}  // namespace warpfold::cuda
