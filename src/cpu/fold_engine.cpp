#include "cpu/fold_engine.hpp"

#include <algorithm>

namespace warpfold::cpu {

HostFoldEngine::HostFoldEngine(const Kernels& kernels, const FoldPlan& plan)
    : slab_elements_(plan.slab_elements) {
  const std::size_t element_bytes = size_of(plan.format.type);
  const std::uint64_t bytes = std::max(plan.staging_bytes, plan.slab_elements * element_bytes);
  for (int slot = 0; slot < plan.slots; ++slot) {
    slots_.push_back(
        {PageBuffer(bytes), make_range_folder(kernels, plan.format, plan.needs), std::nullopt});
    if (plan.chunked) slots_.back().chunk_folder.emplace(kernels, element_bytes);
  }
}

void HostFoldEngine::submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
                            std::uint64_t elements) {
  Slot& here = at(slot);
  here.folder->fold(here.buffer.span().data() + skipped_bytes, elements, {.first = first_index}, 0);
}

void HostFoldEngine::submit(int slot, const StagedChunks& slab, const BoxIndices&) {
  Slot& here = at(slot);
  here.chunk_folder->fold(slab, here.buffer.span().data(), *here.folder);
}

Accumulator HostFoldEngine::finish() {
  Accumulator total = Accumulator::empty();
  for (const Slot& slot : slots_) total.merge(slot.folder->take());
  total.normalize();
  return total;
}

}  // namespace warpfold::cpu
