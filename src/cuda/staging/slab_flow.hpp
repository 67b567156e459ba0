#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/staging_plan.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/staging/slab_batches.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/staging_buffer.hpp"
#include "warpfold/core/stage_timing.hpp"

namespace warpfold::cuda {

/// Slabs' way from the page-locked memory of slots to batches. Calls make its device current.
class SlabFlow {
 public:
  /// Makes the stage of a batch.
  using MakeStage = std::function<std::unique_ptr<SlabStage>()>;

  /// `slot_buffers` is how many slabs of a slot are on their way to the GPU at once, `work` the
  /// name of what is done with them there, which takes the time of `other_work`, too.
  SlabFlow(const Device& device, const StagingPlan& plan, const SlabPurpose& purpose,
           const SlabLayout& layout, int slot_buffers, const char* work,
           std::vector<SpanTimer*> other_work, const TimedEvent& time_origin,
           const MakeStage& make_stage);

  const SlabLayout& layout() const { return layout_; }

  /// Returns a slot's memory for its next slab.
  std::span<std::byte> buffer(int slot);

  /// Brings the slab in a slot's memory to a batch, unless it is empty; its stage gets
  /// `destination` as the slot.
  void submit(int slot, int destination, const StagedChunks& slab);

  SlabBatches& batches();

  /// Adds a stage to those of timings().
  void show(const std::string& stage, const std::vector<SpanTimer*>& timers);
  std::vector<StageTiming> timings() const;

 private:
  StagingBuffers& at(int slot);

  Device device_;
  SlabLayout layout_;
  StageRegistry* registry_;
  std::vector<std::unique_ptr<StagingBuffers>> buffers_;  ///< one per slot
  std::optional<SlabBatches> batches_;
  std::vector<std::unique_ptr<TimedStage>> stages_;
};

}  // namespace warpfold::cuda
