#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/staging_plan.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/staging/chunk_loader.hpp"
#include "cuda/staging/staging_buffer.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

struct PromotedLoaderPlan {
  StagingPlan slabs;
  int buffers = 1;              ///< 1, or 2: one is filled while the other is copied
  bool marks_counting = false;  ///< counting() tells which elements count
  std::uint64_t left_out = 0;   ///< otherwise: bits of a wide value in place of the others
};

/// Brings one slab after the other to the device and makes its elements wide (see
/// chunks/promoted_elements.hpp). One thread at a time.
class PromotedLoader {
 public:
  /// `epoch` as a SpanTimer's.
  PromotedLoader(const PromotedLoaderPlan& plan, const TimedEvent& epoch);

  static std::uint64_t device_bytes(const PromotedLoaderPlan& plan);

  /// Returns the type of decoded elements: f64, i64 or u64.
  ElementType wide_type() const;

  /// Returns page-locked memory to put the next slab's chunks into; may wait for the copy of an
  /// earlier one.
  std::span<std::byte> buffer();

  /// Starts loading what the buffer holds to places below `slab.target.elements`. Throws Error for
  /// more elements than planned.
  void load(const StagedChunks& slab, const BoxIndices& indices, cudaStream_t stream);

  // What was loaded last, in device memory.
  const std::byte* elements() const;
  const bool* counting() const;  ///< null where all count
  const BoxIndices* indices() const { return chunks_.indices(); }

  void append_timers(std::vector<SpanTimer*>& timers) const;

 private:
  bool* counting_data() const;

  PromotedLoaderPlan plan_;
  std::vector<std::unique_ptr<StagingBuffer>> buffers_;
  std::size_t turn_ = 0;
  ChunkLoader chunks_;
  DeviceBuffer stored_;
  DeviceBuffer wide_;
  DeviceBuffer counting_;
};

}  // namespace warpfold::cuda
