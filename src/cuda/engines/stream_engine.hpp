#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/stream_engines.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/slab_slots.hpp"
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

/// A SlotEngine whose Slots share nothing. A Slot has buffer() and append_copies(), which adds the
/// timers of its copies to the GPU.
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
    std::vector<SpanTimer*> copies;
    for (int slot = 0; slot < slots; ++slot) {
      slots_.push_back(make_slot(epoch_));
      slots_.back()->append_copies(copies);
    }
    stages_.push_back(std::make_unique<TimedStage>(stage::copy_to_gpu, copies, registry_));
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

/// A ResultEngine whose slots each have a Stage (a SlabStage).
template <class Result, class Stage>
class ResultEngineOf : public SlotEngineOf<ResultEngine<Result>, SlabSlot> {
  using Base = SlotEngineOf<ResultEngine<Result>, SlabSlot>;

 public:
  std::uint64_t slab_elements() const final { return layout_.slot.elements; }
  void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) final {
    if (slab.target.elements > 0) this->at(slot).submit(slab, indices);
  }

 protected:
  /// The stages are make_stage(slot layout).
  template <class MakeStage>
  ResultEngineOf(const Device& device, const StagingPlan& plan, const SlabPurpose& purpose,
                 const SlabLayout& layout, MakeStage&& make_stage)
      : Base(device, layout.slots, plan.stages,
             [&](const TimedEvent& epoch) {
               return std::make_unique<SlabSlot>(plan, purpose, layout.slot,
                                                 make_stage(layout.slot), epoch);
             }),
        layout_(layout) {
    this->add_stage(stage::reduce, &SlabSlot::work);
  }

  Stage& stage(int slot) const { return static_cast<Stage&>(this->at(slot).stage()); }

 private:
  SlabLayout layout_;
};

}  // namespace warpfold::cuda
