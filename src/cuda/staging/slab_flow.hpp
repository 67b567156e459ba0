#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/engine/staging_plan.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/staging/slab_batches.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/staging_buffer.hpp"
#include "warpfold/core/stage_timing.hpp"

namespace warpfold::cuda {

/// Slabs' way from page-locked memory, which threads take, to batches. Calls make its device
/// current.
class SlabFlow {
 public:
  /// Makes the stage of a batch.
  using MakeStage = std::function<std::unique_ptr<SlabStage>()>;

  /// `slot_buffers` is how many slabs per slot are on their way to the GPU at once, `work` the
  /// name of what is done with them there, which takes the time of `other_work`, too.
  SlabFlow(const Device& device, const StagingPlan& plan, const SlabPurpose& purpose,
           const SlabLayout& layout, int slot_buffers, const char* work,
           std::vector<SpanTimer*> other_work, const TimedEvent& time_origin,
           const MakeStage& make_stage);

  /// Makes the device current for the end of what is on it, in whatever thread.
  ~SlabFlow();
  SlabFlow(const SlabFlow&) = delete;
  SlabFlow& operator=(const SlabFlow&) = delete;

  const SlabLayout& layout() const { return layout_; }

  /// Returns how many threads can bring slabs at once: slots are shared out among them.
  int threads() const { return static_cast<int>(buffers_.size()); }

  /// Lends a thread memory for its next slab, in the next of its slots.
  Ticket take(int thread);

  /// Brings the slab in a ticket's memory to a batch, unless it is empty.
  void submit(const Ticket& ticket, const StagedChunks& slab);

  SlabBatches& batches();

  /// Adds a stage to those of timings().
  void show(const std::string& stage, const std::vector<SpanTimer*>& timers);
  std::vector<StageTiming> timings() const;

 private:
  StagingBuffers& at(int thread);

  Device device_;
  SlabLayout layout_;
  StageRegistry* registry_;
  std::vector<std::unique_ptr<StagingBuffers>> buffers_;  ///< one per thread
  std::optional<SlabBatches> batches_;
  std::vector<std::unique_ptr<TimedStage>> stages_;
};

}  // namespace warpfold::cuda
