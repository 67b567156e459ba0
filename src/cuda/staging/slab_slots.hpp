#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/select/kept_elements.hpp"
#include "cuda/staging/chunk_loader.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/staging_buffer.hpp"

namespace warpfold::cuda {

/// A slab's values in device memory.
struct SlabValues {
  const std::byte* elements;
  std::uint64_t count;  ///< the most there may be where not all were kept
  ElementFormat format;
  std::uint64_t first_index;    ///< of the slab, where `indices` is null
  const BoxIndices* indices;    ///< in device memory
  const std::uint64_t* kept;    ///< their number, in device memory; null: `count`
  const std::uint32_t* places;  ///< of kept ones in the slab, where wanted
};

/// What is done with the slabs of one slot.
class SlabStage {
 public:
  virtual ~SlabStage() = default;

  /// Puts the work into the stream.
  virtual void take(const SlabValues& slab, cudaStream_t stream) = 0;
};

/// A slab's way from page-locked memory through the GPU. Slots share nothing.
class SlabSlot {
 public:
  SlabSlot(const ReducePlan& plan, const SlabPurpose& purpose, const SlotLayout& layout,
           SlabStage& stage, const TimedEvent& epoch);

  StagingBuffer& staging() { return staging_; }
  SpanTimer& work() { return work_; }
  cudaStream_t stream() const { return stream_.get(); }

  void submit(std::uint64_t skipped_bytes, std::uint64_t first_index, std::uint64_t elements);
  void submit(const StagedChunks& slab, const BoxIndices& indices);

 private:
  void take(std::uint64_t elements, std::uint64_t first_index, const BoxIndices* indices);

  ElementFormat format_;
  SlabStage& stage_;
  StagingBuffer staging_;
  DeviceBuffer slab_;
  std::optional<ChunkLoader> loader_;  ///< of a chunked plan
  std::optional<KeptElements> kept_;   ///< where the plan decodes
  SpanTimer work_;
  Stream stream_;
};

/// The slots of a SlabEngine.
class SlabSlots {
 public:
  SlabSlots(const Device& device, const ReducePlan& plan, const SlabPurpose& purpose,
            const SlabLayout& layout, const std::vector<SlabStage*>& stages);

  int slots() const { return static_cast<int>(slots_.size()); }
  std::uint64_t slab_elements() const { return layout_.elements; }
  std::span<std::byte> buffer(int slot);
  void submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
              std::uint64_t elements);
  void submit(int slot, const StagedChunks& slab, const BoxIndices& indices);
  void wait(int slot);
  std::vector<EngineTiming> timings() const;

  /// Makes the device current.
  void activate() const { device_.activate(); }
  cudaStream_t stream(int slot) const { return at(slot).stream(); }

 private:
  SlabSlot& at(int slot) const { return *slots_.at(static_cast<std::size_t>(slot)); }
  void check_fits(std::uint64_t elements, std::uint64_t bytes) const;

  Device device_;
  std::size_t element_bytes_;
  SlotLayout layout_;
  TimedEvent epoch_;
  std::vector<std::unique_ptr<SlabSlot>> slots_;
  std::vector<std::unique_ptr<TimedStage>> stages_;
};

/// A SlabEngine whose slots each have a Stage (a SlabStage).
template <class Engine, class Stage>
class SlabEngineOf : public Engine {
 public:
  int slots() const final { return slots_.slots(); }
  std::uint64_t slab_elements() const final { return slots_.slab_elements(); }
  std::span<std::byte> buffer(int slot) final { return slots_.buffer(slot); }
  void submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
              std::uint64_t elements) final {
    slots_.submit(slot, skipped_bytes, first_index, elements);
  }
  void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) final {
    slots_.submit(slot, slab, indices);
  }
  void wait(int slot) final { slots_.wait(slot); }
  std::vector<EngineTiming> timings() const final { return slots_.timings(); }

 protected:
  /// The stages are make_stage(slot layout), within `limit` bytes of device memory.
  template <class MakeStage>
  SlabEngineOf(const Device& device, const ReducePlan& plan, const SlabPurpose& purpose,
               std::uint64_t limit, MakeStage&& make_stage)
      : layout_(SlotMemory(plan, purpose).layout(limit)),
        stages_(stages_of(layout_, make_stage)),
        slots_(device, plan, purpose, layout_, pointers_to(stages_)) {}

  SlabSlots& all_slots() { return slots_; }
  Stage& stage(int slot) { return *stages_.at(static_cast<std::size_t>(slot)); }

 private:
  using Stages = std::vector<std::unique_ptr<Stage>>;

  template <class MakeStage>
  static Stages stages_of(const SlabLayout& layout, MakeStage&& make_stage) {
    Stages stages;
    for (int slot = 0; slot < layout.slots; ++slot) stages.push_back(make_stage(layout.slot));
    return stages;
  }
  static std::vector<SlabStage*> pointers_to(const Stages& stages) {
    std::vector<SlabStage*> pointers;
    for (const auto& stage : stages) pointers.push_back(stage.get());
    return pointers;
  }

  SlabLayout layout_;
  Stages stages_;  ///< their memory outlives the slots' streams
  SlabSlots slots_;
};

}  // namespace warpfold::cuda
