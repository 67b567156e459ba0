#include "cuda/staging/slab_flow.hpp"

#include <algorithm>
#include <utility>

#include "cuda/staging/chunk_loader.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

SlabFlow::SlabFlow(const Device& device, const StagingPlan& plan, const SlabPurpose& purpose,
                   const SlabLayout& layout, int slot_buffers, const char* work,
                   std::vector<SpanTimer*> other_work, const TimedEvent& time_origin,
                   const MakeStage& make_stage)
    : device_(device), layout_(layout), registry_(plan.stages) {
  const std::uint64_t bytes =
      plan.staging == Staging::chunks
          ? ChunkLoader::buffer_bytes(layout.slot.staging_bytes, layout.loader.slab_chunks)
          : layout.slot.staging_bytes;
  std::vector<SpanTimer*> copies;
  const int threads = std::clamp(plan.threads, 1, layout.slots);
  for (int thread = 0; thread < threads; ++thread) {
    const int slots = (layout.slots - thread + threads - 1) / threads;
    buffers_.push_back(std::make_unique<StagingBuffers>(slots * slot_buffers, bytes, time_origin));
    buffers_.back()->append_copies(copies);
  }
  std::vector<std::unique_ptr<SlabBatch>> batches;
  std::vector<SpanTimer*> decompressing;
  std::vector<SpanTimer*> working = std::move(other_work);
  for (int batch = 0; batch < layout.batches; ++batch) {
    batches.push_back(
        std::make_unique<SlabBatch>(plan, purpose, layout, make_stage(), time_origin));
    decompressing.push_back(&batches.back()->decompressing());
    working.push_back(&batches.back()->working());
  }
  batches_.emplace(std::move(batches), layout.decompresses);
  show(stage::copy_to_gpu, copies);
  if (layout.decompresses) show(stage::decompress_on_gpu, decompressing);
  show(work, working);
}

SlabFlow::~SlabFlow() {
  try {
    device_.activate();
  } catch (const Error&) {  // the GPU is lost, and nothing on it has to end
  }
}

Ticket SlabFlow::take(int thread) {
  StagingBuffers& buffers = at(thread);
  return {buffers.fill().first(layout_.slot.staging_bytes), thread,
          thread + buffers.turn() * threads()};
}

void SlabFlow::submit(const Ticket& ticket, const StagedChunks& slab) {
  if (slab.target.elements == 0) return;
  batches().submit(ticket.slot, at(ticket.thread).take(), slab);
}

SlabBatches& SlabFlow::batches() {
  device_.activate();
  return *batches_;
}

void SlabFlow::show(const std::string& stage, const std::vector<SpanTimer*>& timers) {
  stages_.push_back(std::make_unique<TimedStage>(stage, timers, registry_));
}

std::vector<StageTiming> SlabFlow::timings() const {
  device_.activate();
  return timings_of(stages_);
}

StagingBuffers& SlabFlow::at(int thread) {
  device_.activate();
  return *buffers_.at(static_cast<std::size_t>(thread));
}

}  // namespace warpfold::cuda
