#pragma once

#include <cstdint>
#include <span>

#include "warpfold/core/element_range.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold {

/// As many as HDF5 allows.
inline constexpr int most_dimensions = 32;

/// A dataset cut into chunks of one shape, numbered in row-major order of the grid that they form.
/// The last ones along a dimension may reach beyond the dataset. Extents are in elements. Chunks
/// hold fewer than 2^32 elements.
struct ChunkGrid {
  int dimensions = 0;
  std::uint64_t extent[most_dimensions] = {};        ///< of the dataset
  std::uint64_t chunk_extent[most_dimensions] = {};  ///< 1 or more

  WARPFOLD_HD std::uint64_t chunks_along(int dimension) const {
    return ceil_div(extent[dimension], chunk_extent[dimension]);
  }
  std::uint64_t chunk_elements() const;
  std::uint64_t chunks() const;
};

/// The grid of a dataset, dimensions merged where fewer describe the same chunks with the same
/// numbers and places of elements: a dimension that each chunk covers joins the one before it, as
/// does one that follows chunk extents of 1 and is a whole number of chunks.
ChunkGrid chunk_grid(std::span<const std::uint64_t> shape,
                     std::span<const std::uint64_t> chunk_shape);

/// Chunks [first, first + count) by number.
struct ChunkRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return first + count; }
  bool operator==(const ChunkRun&) const = default;
};

/// The chunks that hold elements of a flat range, and few others.
ChunkRun chunks_overlapping(const ChunkGrid& grid, ElementRange range);

/// Cuts a grid into runs of chunks whose elements form a box, each of at most `most_chunks` (1 or
/// more) chunks.
class BoxCut {
 public:
  BoxCut(const ChunkGrid& grid, std::uint64_t most_chunks);

  std::uint64_t boxes() const;
  ChunkRun run(std::uint64_t box) const;

  /// Of the box with the most.
  std::uint64_t most_elements() const;

 private:
  ChunkGrid grid_;
  int dimension_ = 0;       ///< along which a box may span several chunks; all of those behind it
  std::uint64_t span_ = 1;  ///< chunks a box spans along it
};

}  // namespace warpfold
