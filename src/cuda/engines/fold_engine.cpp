#include "cuda/engines/fold_engine.hpp"

#include <memory>

#include "cuda/reduce/fold.hpp"
#include "cuda/reduce/fold_state.hpp"
#include "cuda/runtime/download.hpp"
#include "cuda/staging/slab_slots.hpp"

namespace warpfold::cuda {
namespace {

/// Folds the slabs of one slot.
class FoldStage final : public SlabStage {
 public:
  FoldStage(const FoldNeeds& needs, int blocks) : needs_(needs), state_(blocks) {}

  void take(const SlabValues& slab, cudaStream_t stream) override {
    kernels::fold(
        {.elements = slab.elements,
         .count = slab.count,
         .format = slab.format,
         .needs = needs_,
         .first_index = slab.first_index,
         .totals = state_.totals(),
         .block_extrema = state_.block_extrema(),
         .blocks = kernels::fold_blocks(slab.count * size_of(slab.format.type), state_.blocks()),
         .indices = slab.indices,
         .kept = slab.kept,
         .places = slab.places},
        stream);
  }

  /// What the slot has folded so far, once its stream is done.
  Accumulator total(cudaStream_t stream) const {
    const auto totals = downloaded_value<kernels::FoldTotals>(state_.totals(), stream);
    return needed_parts(totals.total, needs_);
  }

 private:
  FoldNeeds needs_;
  FoldState state_;
};

/// How many thread blocks fold slabs of so many bytes of values.
class FoldBlocks {
 public:
  explicit FoldBlocks(const FoldPlan& plan)
      : value_type_(plan.decoding.value_type(plan.format.type)),
        resident_(kernels::resident_fold_blocks(
                      value_type_, plan.decoding.trivial() ? plan.needs : kernels::needs_of_kept) *
                  multiprocessors()) {}

  int of_bytes(std::uint64_t value_bytes) const {
    return kernels::fold_blocks(value_bytes, resident_);
  }
  int of_elements(std::uint64_t elements) const {
    return of_bytes(elements * size_of(value_type_));
  }

 private:
  ElementType value_type_;
  int resident_;
};

class CudaFoldEngine final : public SlabEngineOf<FoldEngine, FoldStage> {
 public:
  CudaFoldEngine(const Device& device, const FoldPlan& plan, const FoldBlocks& blocks)
      : SlabEngineOf(device, plan,
                     {"fold", true,
                      [&](std::uint64_t value_bytes) {
                        return FoldState::bytes(blocks.of_bytes(value_bytes));
                      }},
                     device.memory_limit(), [&](const SlotLayout& slot) {
                       return std::make_unique<FoldStage>(plan.needs,
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

std::unique_ptr<FoldEngine> make_fold_engine(const Device& device, const FoldPlan& plan) {
  return std::make_unique<CudaFoldEngine>(device, plan, FoldBlocks(plan));
}

}  // namespace warpfold::cuda
