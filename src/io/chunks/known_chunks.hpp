#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "io/chunks/chunk_index.hpp"

namespace warpfold::io {

/// Chunks of a dataset, by position, whose index has been read: a rank's, and others that are
/// included later. Threads may call it at once.
class KnownChunks {
 public:
  /// Reads the index of a run. Throws Error.
  using Read = std::function<std::vector<StoredChunk>(ChunkRun run)>;

  KnownChunks(ChunkRun mine, Read read) : read_(std::move(read)), mine_{mine, read_(mine)} {}

  /// Reads the index of further chunks, unless it is known.
  void include(ChunkRun more);

  /// Returns null for a chunk that is not known.
  const StoredChunk* find(std::uint64_t position) const;

  /// Returns the bytes of the rank's largest chunk.
  std::uint64_t max_bytes() const;

 private:
  struct Run {
    ChunkRun run;
    std::vector<StoredChunk> chunks;

    const StoredChunk* find(std::uint64_t position) const {
      return position >= run.first && position < run.end() ? &chunks[position - run.first]
                                                           : nullptr;
    }
  };

  const StoredChunk* find_included(std::uint64_t position) const;

  Read read_;
  Run mine_;
  mutable std::mutex mutex_;
  std::deque<Run> included_;  ///< chunks stay where they are
};

}  // namespace warpfold::io
