#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/tiling.hpp"

namespace warpfold::pipeline {

/// An array of chunks taken apart into blocks of whole chunks: the elements of a block are
/// consecutive in row-major order, and so are the numbers of its chunks. A row of chunks is the
/// least such block: the chunks with the same indices up to the first dimension along which a chunk
/// has more than one element.
class ChunkRows {
 public:
  explicit ChunkRows(const ChunkGrid& grid);

  std::uint64_t chunk_elements() const { return grid_.chunk_elements(); }

  std::uint64_t row_elements() const;

  /// Returns blocks of whole rows that have at most `max_elements` elements: about equally many
  /// and, where that fits, multiples of `unit` (1 or more). None where a row has more, or more
  /// chunks than ranks exchange at a time.
  std::optional<Tiling> blocks(std::uint64_t max_elements, std::uint64_t unit = 1) const;

  /// Returns the chunks of a block, by number; past the last one there are none.
  ChunkRun chunks_of(const Tiling& blocks, std::uint64_t block) const;

 private:
  ChunkGrid grid_;
  int along_ = 0;  ///< that dimension
};

}  // namespace warpfold::pipeline
