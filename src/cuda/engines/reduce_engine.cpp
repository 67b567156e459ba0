#include "cuda/engines/reduce_engine.hpp"

#include <memory>

#include "cuda/reduce/device_reduce.hpp"
#include "cuda/reduce/reduce.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/staging/slab_slots.hpp"

namespace warpfold::cuda {
namespace {

/// Reduces the slabs of one slot.
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
         .kept = slab.kept,
         .places = slab.places},
        stream);
  }

  /// What the slot has reduced so far, once its stream is done.
  Accumulator total(cudaStream_t stream) const {
    const auto totals = downloaded_value<kernels::ReduceTotals>(state_.totals(), stream);
    return needed_parts(totals.total, needs_);
  }

 private:
  ReduceNeeds needs_;
  ReduceState state_;
};

/// How many thread blocks reduce slabs of so many bytes of values.
class ReduceBlocks {
 public:
  explicit ReduceBlocks(const ReducePlan& plan)
      : value_type_(plan.decoding.value_type(plan.format.type)),
        resident_(kernels::resident_reduce_blocks(
                      value_type_, plan.decoding.trivial() ? plan.needs : kernels::needs_of_kept) *
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

class CudaReduceEngine final : public SlabEngineOf<ReduceEngine, ReduceStage> {
 public:
  CudaReduceEngine(const Device& device, const ReducePlan& plan, const ReduceBlocks& blocks)
      : SlabEngineOf(device, plan,
                     {"fold", true,
                      [&](std::uint64_t value_bytes) {
                        return ReduceState::bytes(blocks.of_bytes(value_bytes));
                      }},
                     device.memory_limit(), [&](const SlotLayout& slot) {
                       return std::make_unique<ReduceStage>(plan.needs,
                                                            blocks.of_elements(slot.elements));
                     }) {}

  Accumulator finish() override {
    all_slots().activate();
    Accumulator total = Accumulator::empty();
    for (int slot = 0; slot < slots(); ++slot)
      total.merge(stage(slot).total(all_slots().stream(slot)));
    total.normalize();
    return total;
  }
};

}  // namespace

std::unique_ptr<ReduceEngine> make_reduce_engine(const Device& device, const ReducePlan& plan) {
  return std::make_unique<CudaReduceEngine>(device, plan, ReduceBlocks(plan));
}

}  // namespace warpfold::cuda
