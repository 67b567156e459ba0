#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "cpu/chunk_folder.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/page_buffer.hpp"
#include "cpu/range_folder.hpp"

namespace warpfold::cpu {

/// Folds each slab in the thread that submits it.
class HostFoldEngine final : public FoldEngine {
 public:
  HostFoldEngine(const Kernels& kernels, const FoldPlan& plan);

  int slots() const override { return static_cast<int>(slots_.size()); }
  std::uint64_t slab_elements() const override { return slab_elements_; }
  std::span<std::byte> buffer(int slot) override { return at(slot).buffer.span(); }
  void submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
              std::uint64_t elements) override;
  void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) override;
  void wait(int) override {}
  Accumulator finish() override;

  /// None: the threads that submit know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

 private:
  struct Slot {
    PageBuffer buffer;
    std::unique_ptr<RangeFolder> folder;
    std::optional<ChunkFolder> chunk_folder;  ///< where slabs come as chunks
  };

  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

  std::uint64_t slab_elements_;
  std::vector<Slot> slots_;
};

}  // namespace warpfold::cpu
