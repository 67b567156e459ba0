#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/staging_plan.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/select/select_elements.hpp"
#include "cuda/staging/chunk_loader.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/staging_buffer.hpp"

namespace warpfold::cuda {

/// A slab's values in device memory.
struct SlabValues {
  const std::byte* elements;
  std::uint64_t count;  ///< the most there may be where not all were selected
  ElementFormat format;
  std::uint64_t first_index;      ///< of the slab, where `indices` is null
  const BoxIndices* indices;      ///< in device memory
  const std::uint64_t* selected;  ///< their number, in device memory; null: `count`
  const std::uint32_t* places;    ///< of selected ones in the slab, where wanted
};

/// What is done with the slabs of one slot.
class SlabStage {
 public:
  virtual ~SlabStage() = default;

  /// Puts the work into the stream.
  virtual void take(const SlabValues& slab, cudaStream_t stream) = 0;
};

/// A slab's way from page-locked memory through the GPU. Slots share nothing.
class SlabSlot {
 public:
  SlabSlot(const StagingPlan& plan, const SlabPurpose& purpose, const SlotLayout& layout,
           std::unique_ptr<SlabStage> stage, const TimedEvent& epoch);

  SlabStage& stage() { return *stage_; }
  SpanTimer& work() { return work_; }
  void append_copies(std::vector<SpanTimer*>& timers) { timers.push_back(&staging_.copies()); }
  cudaStream_t stream() const { return stream_.get(); }

  /// Do what a StreamEngine's do.
  std::span<std::byte> buffer();
  void submit(const StagedChunks& slab, const BoxIndices& indices);

 private:
  void copy_run(const StagedChunks& slab);
  void take(std::uint64_t elements, std::uint64_t first_index, const BoxIndices* indices);

  ElementFormat format_;
  SlotLayout layout_;
  std::unique_ptr<SlabStage> stage_;
  StagingBuffer staging_;
  DeviceBuffer slab_;
  std::optional<ChunkLoader> loader_;         ///< of a plan of chunks
  std::optional<SelectedElements> selected_;  ///< where the plan decodes
  SpanTimer work_;
  Stream stream_;
};

}  // namespace warpfold::cuda
