#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/engine/stage_registry.hpp"
#include "core/layout/staged_chunks.hpp"
#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// How a slab's bytes lie in the memory that an engine lends for it.
enum class Staging : std::uint8_t {
  packed,  ///< as one run of elements, from the first byte on
  run,     ///< as one run of elements, anywhere at a multiple of their size
  chunks,  ///< as chunks, to be put together
};

/// Compressed chunks that slabs bring, for an engine to decompress.
struct CompressedChunks {
  std::uint64_t chunks = 0;       ///< in all slabs of the rank; 0: none is compressed
  std::uint64_t slab_chunks = 0;  ///< the most of a slab
  CompressedForm form = {};
  std::uint64_t staging_bytes = 0;  ///< the most of a slab in memory

  /// Decodes a chunk that the engine can't decompress, by its number in the grid, or throws the
  /// Error that says why nobody can. Threads may call it at once.
  std::function<void(std::uint64_t number, std::span<std::byte> out)> decode;
};

/// Sizes that an engine prepares for: the slabs that threads bring it. A slab never exceeds 2^30
/// elements or 1 GiB.
struct StagingPlan {
  ElementFormat format;             ///< as stored
  Decoding decoding = {};           ///< elements that it leaves out don't count
  std::uint64_t slab_elements = 0;  ///< the most that a slab brings
  std::uint64_t staging_bytes = 0;  ///< the most of a slab in memory, if more than its elements
  Staging staging = Staging::run;
  int threads = 1;                   ///< that are to bring slabs at once
  StageRegistry* stages = nullptr;   ///< that shows the engine's, if any
  CompressedChunks compressed = {};  ///< chunks that come if the engine decompresses
  int slots_per_thread = 1;          ///< wanted, where slabs are under way after submit()

  /// Returns how many slabs are to be in memory at once.
  int slots() const { return std::max(threads, 1) * slots_per_thread; }

  /// Returns the bytes of memory for a slab.
  std::uint64_t slot_bytes() const {
    return std::max(staging_bytes, slab_elements * size_of(format.type));
  }
};

}  // namespace warpfold
