#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/stream_engines.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/staging/slab_flow.hpp"

namespace warpfold::cuda {

/// A ResultEngine whose batches each have a Stage (a SlabStage).
template <class Result, class Stage>
class ResultEngineOf : public ResultEngine<Result> {
 public:
  int threads() const final { return flow_.threads(); }
  std::uint64_t slab_elements() const final { return flow_.layout().slot.elements; }
  bool decompresses() const final { return flow_.layout().decompresses; }
  bool is_ready() final { return flow_.batches().is_ready(); }
  void proceed() final { flow_.batches().proceed(); }
  void flush() final { flow_.batches().flush(); }
  Ticket take(int thread) final { return flow_.take(thread); }
  void submit(const Ticket& ticket, const StagedChunks& slab) final { flow_.submit(ticket, slab); }
  std::vector<StageTiming> timings() const final { return flow_.timings(); }

 protected:
  ResultEngineOf(const Device& device, const StagingPlan& plan, const SlabPurpose& purpose,
                 const SlabLayout& layout, const SlabFlow::MakeStage& make_stage)
      : time_origin_(make_time_origin()),
        flow_(device, plan, purpose, layout, 1, stage::reduce, {}, time_origin_, make_stage) {}

  /// Starts what is left, and returns all batches.
  const std::vector<std::unique_ptr<SlabBatch>>& finished_batches() {
    flow_.batches().finish();
    return flow_.batches().all();
  }

  static Stage& stage_of(SlabBatch& batch) { return static_cast<Stage&>(batch.stage()); }

 private:
  TimedEvent time_origin_;
  SlabFlow flow_;
};

}  // namespace warpfold::cuda
