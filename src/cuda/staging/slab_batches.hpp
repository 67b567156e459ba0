#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
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
  std::uint64_t first_index;      ///< first index of the slab, if `indices` is null
  const BoxIndices* indices;      ///< in device memory
  const std::uint64_t* selected;  ///< their number, in device memory; null: `count`
  const std::uint32_t* places;    ///< places of selected elements in the slab, if wanted
  int slot;                       ///< slot of its ticket
  BoxIndices flat;                ///< indices in the dataset, of the slab's places
};

/// A stage that processes the slabs of one batch.
class SlabStage {
 public:
  virtual ~SlabStage() = default;

  /// Puts the work into the stream.
  virtual void take(const SlabValues& slab, cudaStream_t stream) = 0;
};

/// Slabs' way from page-locked memory through the GPU, one slab or several at a time. Batches share
/// nothing.
class SlabBatch {
 public:
  SlabBatch(const StagingPlan& plan, const SlabPurpose& purpose, const SlabLayout& layout,
            std::unique_ptr<SlabStage> stage, const TimedEvent& time_origin);

  SlabStage& stage() { return *stage_; }
  SpanTimer& decompressing() { return decompressing_; }
  SpanTimer& working() { return working_; }
  cudaStream_t stream() const { return stream_.get(); }

  /// Returns whether one more slab can be added before start().
  bool has_room() const { return loader_->has_room(); }
  bool empty() const { return slabs_.empty(); }

  /// Starts copying a slot's slab.
  void add(int slot, StagingBuffer& from, const StagedChunks& slab);

  /// Starts decompressing the slabs that were added.
  void start();

  /// Returns whether finish() would not wait.
  bool is_decompressed() const { return loader_->is_decompressed(); }

  /// Starts the work on them; waits until they are decompressed. Throws Error for what can't be.
  void finish();

 private:
  struct Slab {
    std::uint64_t elements;
    int slot;
    BoxIndices flat;
  };

  void copy_run(StagingBuffer& from, const StagedChunks& slab);
  void take(const Slab& slab, const BoxIndices* indices);

  ElementFormat format_;
  CompressedChunks compressed_;
  std::uint64_t in_flight_;
  SlotLayout layout_;
  std::unique_ptr<SlabStage> stage_;
  std::vector<Slab> slabs_;
  DeviceBuffer elements_;                     ///< elements of one slab
  std::optional<ChunkLoader> loader_;         ///< if the plan has chunks
  std::optional<SelectedElements> selected_;  ///< if the plan decodes
  SpanTimer decompressing_;
  SpanTimer working_;
  Stream stream_;
};

/// Brings slabs to batches. Threads may call it at once, until finish().
class SlabBatches {
 public:
  /// Each slot has its own batch. Shared batches are filled by all slots together, one after the
  /// other, and the next thread that polls completes those that are decompressed.
  SlabBatches(std::vector<std::unique_ptr<SlabBatch>> batches, bool shared)
      : batches_(std::move(batches)), shared_(shared), states_(batches_.size(), State::filling) {}

  const std::vector<std::unique_ptr<SlabBatch>>& all() const { return batches_; }

  /// Returns whether submit() is likely not to wait.
  bool is_ready() const { return !shared_ || has_room_; }

  /// Finishes the batch that was started first, if it is decompressed and nobody else is at it.
  void proceed();

  /// Takes a slot's slab.
  void submit(int slot, StagingBuffer& from, const StagedChunks& slab);

  /// Starts the batch that is being filled.
  void flush();

  /// Starts the work on slabs until is_done(), or on all that are left.
  void finish_until(const std::function<bool()>& is_done);
  void finish();

 private:
  enum class State : std::uint8_t { filling, decompressing, finishing };

  bool add(int slot, StagingBuffer& from, const StagedChunks& slab);
  std::size_t started_first() const;
  void start_filled();
  void wait_for_room();
  void finish(std::size_t batch, std::unique_lock<std::mutex>& lock);

  std::vector<std::unique_ptr<SlabBatch>> batches_;
  bool shared_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<State> states_;  ///< one per batch
  std::size_t filling_ = 0;    ///< the batch that is being filled, or is to be next
  std::atomic<bool> has_room_ = true;
};

}  // namespace warpfold::cuda
