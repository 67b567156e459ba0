#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/layout/chunk_grid.hpp"

namespace warpfold {

/// Where a chunk's elements lie in staging memory: all of them, also those beyond the dataset, in
/// row-major order of the chunk.
struct StagedChunk {
  /// In place of a position: the chunk was never written, its elements are the fill value.
  static constexpr std::uint64_t unwritten = ~std::uint64_t{0};

  std::uint64_t number = 0;  ///< in its grid
  std::uint64_t source = 0;  ///< first byte, from the start of the staging memory; any alignment
  bool shuffled = false;     ///< as HDF5's shuffle filter leaves them: the first bytes of all
                             ///< elements, then the second bytes, ...
};

/// Where selected elements go: the one at coordinates x among them to place sum(x[d] * stride[d]) -
/// origin, in elements, or nowhere where that is not below `elements`.
struct ChunkTarget {
  std::uint64_t stride[max_dimensions] = {};
  std::uint64_t origin = 0;
  std::uint64_t elements = 0;
};

/// Elements of a box of a selection, in row-major order of the box: the one at place p has the flat
/// index operator()(p), which rises with p.
struct BoxIndices {
  std::uint64_t first = 0;
  int dimensions = 0;  ///< 0: the indices are consecutive
  std::uint64_t extent[max_dimensions] = {};
  std::uint64_t stride[max_dimensions] = {};

  WARPFOLD_HD std::uint64_t operator()(std::uint64_t place) const {
    if (dimensions == 0) return first + place;
    std::uint64_t index = first;
    for (int d = dimensions - 1; d >= 0; --d) {
      index += place % extent[d] * stride[d];
      place /= extent[d];
    }
    return index;
  }
};

/// Tell of the box that a run of chunks of tile_chunks() forms how its elements are packed, and
/// their indices.
ChunkTarget box_target(const ChunkGrid& grid, ChunkRun run);
BoxIndices box_indices(const ChunkGrid& grid, ChunkRun run);

/// A flat range of the selection.
ChunkTarget flat_target(const ChunkGrid& grid, ElementRange range);

/// Chunks in staging memory, and where their elements go.
struct StagedChunks {
  ChunkGrid grid;
  ChunkTarget target;
  std::span<const StagedChunk> chunks;
  std::array<std::byte, 8> fill = {};  ///< one element, as it would be stored
};

}  // namespace warpfold
