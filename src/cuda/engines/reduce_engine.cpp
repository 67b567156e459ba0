#include <memory>

#include "cuda/engines/engines.hpp"
#include "cuda/engines/stream_engine.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/reduce/reduce.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {
namespace {

/// Reduces the slabs of one batch.
class ReduceStage final : public SlabStage {
 public:
  ReduceStage(const ReduceNeeds& needs, int blocks) : needs_(needs), state_(blocks) {}

  void take(const SlabValues& slab, cudaStream_t stream) override {
    kernels::reduce(
        {.elements = slab.elements,
         .count = slab.count,
         .format = slab.format,
         .needs = needs_,
         .first_index = slab.first_index,
         .totals = state_.totals(),
         .block_extrema = state_.block_extrema(),
         .blocks = kernels::reduce_blocks(slab.count * size_of(slab.format.type), state_.blocks()),
         .indices = slab.indices,
         .selected = slab.selected,
         .places = slab.places},
        stream);
  }

  /// Returns what the batch has reduced so far, once its stream is done.
  Accumulator total(cudaStream_t stream) const {
    const auto totals = downloaded_value<kernels::ReduceTotals>(state_.totals(), stream);
    return needed_parts(totals.total, needs_);
  }

 private:
  ReduceNeeds needs_;
  ReduceState state_;
};

/// Numbers of thread blocks that reduce slabs of so many bytes of values.
class ReduceBlocks {
 public:
  ReduceBlocks(const StagingPlan& plan, ReduceNeeds needs)
      : value_type_(plan.decoding.value_type(plan.format.type)),
        resident_(kernels::resident_reduce_blocks(
                      value_type_, plan.decoding.trivial() ? needs : kernels::needs_of_selected) *
                  multiprocessors()) {}

  int of_bytes(std::uint64_t value_bytes) const {
    return kernels::reduce_blocks(value_bytes, resident_);
  }
  int of_elements(std::uint64_t elements) const {
    return of_bytes(elements * size_of(value_type_));
  }

 private:
  ElementType value_type_;
  int resident_;
};

class CudaReduceEngine final : public ResultEngineOf<Accumulator, ReduceStage> {
 public:
  CudaReduceEngine(const Device& device, const StagingPlan& plan, ReduceNeeds needs,
                   const ReduceBlocks& blocks, const SlabPurpose& purpose)
      : CudaReduceEngine(device, plan, needs, blocks, purpose,
                         SlotMemory(plan, purpose).layout(device.memory_limit())) {}

  Accumulator finish() override {
    Accumulator total = Accumulator::empty();
    for (const auto& batch : finished_batches())
      total.merge(stage_of(*batch).total(batch->stream()));
    total.normalize();
    return total;
  }

 private:
  CudaReduceEngine(const Device& device, const StagingPlan& plan, ReduceNeeds needs,
                   const ReduceBlocks& blocks, const SlabPurpose& purpose, const SlabLayout& layout)
      : ResultEngineOf(device, plan, purpose, layout, [&] {
          return std::make_unique<ReduceStage>(needs, blocks.of_elements(layout.slot.elements));
        }) {}
};

}  // namespace

std::unique_ptr<ReduceEngine> make_reduce_engine(const Device& device, const StagingPlan& plan,
                                                 ReduceNeeds needs) {
  const ReduceBlocks blocks(plan, needs);
  const SlabPurpose reducing{"reduce", true, [&](std::uint64_t value_bytes) {
                               return ReduceState::bytes(blocks.of_bytes(value_bytes));
                             }};
  return std::make_unique<CudaReduceEngine>(device, plan, needs, blocks, reducing);
}

}  // namespace warpfold::cuda
