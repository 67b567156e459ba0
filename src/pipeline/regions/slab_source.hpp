#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/layout/staged_chunks.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// A range of elements in a slot's buffer, the first one `skipped_bytes` into it.
struct RawSlab {
  std::uint64_t skipped_bytes = 0;
  ElementRange range;
};

/// A box of chunks in a slot's buffer.
struct ChunkSlab {
  StagedChunks chunks;
  BoxIndices indices;
};

using StagedSlab = std::variant<RawSlab, ChunkSlab>;

/// One thread's way to a dataset's slabs.
class SlabReader {
 public:
  virtual ~SlabReader() = default;

  /// Reads a slab into a slot's buffer; the answer is valid until the next call. Throws Error.
  virtual StagedSlab read(std::uint64_t slab, std::span<std::byte> buffer) = 0;

  /// So far.
  virtual std::vector<StageTiming> timings() const = 0;
};

/// Where a rank's slabs come from.
class SlabSource {
 public:
  virtual ~SlabSource() = default;

  /// The most bytes that a slab has in a slot's buffer.
  virtual std::uint64_t staging_bytes() const = 0;

  virtual std::unique_ptr<SlabReader> make_reader() = 0;
};

/// Returns the source of the slabs `mine`. Borrows the dataset; its stages are seen in `registry`.
/// Throws Error.
std::unique_ptr<SlabSource> make_slab_source(io::Dataset& dataset, const SlabTiling& tiling,
                                             ElementRange mine, StageRegistry& registry);

}  // namespace warpfold::pipeline
