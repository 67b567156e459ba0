#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// Place of a chunk's bytes in its file.
struct StoredChunk {
  std::uint64_t address = 0;  ///< address of its first byte in its file, a user block included
  std::uint32_t bytes = 0;    ///< as stored; 0: never written
  std::uint32_t skipped_filters = 0;  ///< bit i: filter i of the pipeline was not applied

  bool operator==(const StoredChunk&) const = default;
};

/// Finds the chunks `run` of a chunked dataset, in the order of their positions in grid_of(info),
/// without time that grows with the square of their number. Opens the file. Throws Error.
std::vector<StoredChunk> read_chunk_index(const DatasetInfo& info, ChunkRun run);

}  // namespace warpfold::io
