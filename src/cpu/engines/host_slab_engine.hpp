#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/chunks/chunk_reducer.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/range_reducer.hpp"

namespace warpfold::cpu {

/// Takes each slab in the thread that submits it, with a Sink for each slot.
template <class Engine, class Sink>
class HostSlabEngine : public Engine {
 public:
  /// `make()` gives a Sink, as many times as there are slots.
  template <class MakeSink>
  HostSlabEngine(const Kernels& kernels, const ReducePlan& plan, const MakeSink& make)
      : slab_elements_(plan.slab_elements) {
    const std::size_t element_bytes = size_of(plan.format.type);
    const std::uint64_t bytes = std::max(plan.staging_bytes, plan.slab_elements * element_bytes);
    for (int slot = 0; slot < plan.slots; ++slot) {
      slots_.push_back({PageBuffer(bytes), make(), std::nullopt});
      if (plan.chunked) slots_.back().chunk_reducer.emplace(kernels, element_bytes);
    }
  }

  int slots() const override { return static_cast<int>(slots_.size()); }
  std::uint64_t slab_elements() const override { return slab_elements_; }
  std::span<std::byte> buffer(int slot) override { return at(slot).buffer.span(); }

  void submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
              std::uint64_t elements) override {
    Slot& here = at(slot);
    const BoxIndices indices{.first = first_index};
    here.sink->reduce(here.buffer.span().data() + skipped_bytes, elements, {indices, 0});
  }

  void submit(int slot, const StagedChunks& slab, const BoxIndices&) override {
    Slot& here = at(slot);
    here.chunk_reducer->reduce(slab, here.buffer.span().data(), *here.sink);
  }

  void wait(int) override {}

  /// None: the threads that submit know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

 protected:
  template <class Use>
  void for_each_sink(const Use& use) const {
    for (const Slot& slot : slots_) use(*slot.sink);
  }

 private:
  struct Slot {
    PageBuffer buffer;
    std::unique_ptr<Sink> sink;
    std::optional<ChunkReducer> chunk_reducer;  ///< where slabs come as chunks
  };

  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

  std::uint64_t slab_elements_;
  std::vector<Slot> slots_;
};

}  // namespace warpfold::cpu
