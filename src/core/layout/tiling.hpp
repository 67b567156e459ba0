#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/hyperslab.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold {

/// An array taken apart into items: boxes of one shape, except at its ends, numbered in row-major
/// order of the grid that they form. Every command divides its work by one.
class Tiling {
 public:
  /// Takes `shape` apart into boxes of `extents` (each 1 or more). An array without elements has no
  /// items, one without dimensions has one.
  Tiling(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> extents);

  /// Takes `elements` places of one dimension apart into ranges.
  Tiling(std::uint64_t elements, std::uint64_t extent)
      : Tiling(std::vector{elements}, std::vector{extent}) {}

  const std::vector<std::uint64_t>& shape() const { return shape_; }
  const std::vector<std::uint64_t>& extents() const { return extents_; }

  std::uint64_t items() const;
  std::uint64_t max_places() const;  ///< maximum per item

  Hyperslab region(std::uint64_t item) const;

  /// Returns the flat indices of consecutive items whose regions are consecutive. Past the last
  /// item there are none.
  ElementRange range(ElementRange items) const;
  ElementRange range(std::uint64_t item) const { return range({item, 1}); }

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> extents_;
};

/// Returns the items of `items` that rank `rank` of `ranks` has: consecutive numbers, as many as
/// others have or one fewer.
ElementRange share_of(std::uint64_t items, int ranks, int rank);

/// Returns a grid's chunks that count, taken apart into runs of at most `max_chunks` (1 or more)
/// consecutive chunks whose selected elements form a box.
Tiling tile_chunks(const ChunkGrid& grid, std::uint64_t max_chunks);

/// Returns the chunks, by position, of consecutive items of tile_chunks().
ChunkRun chunks_of(const Tiling& chunks, ElementRange items);

/// Returns the selected elements that an item of tile_chunks() has at most, or a little more.
std::uint64_t max_elements_of(const Tiling& chunks, const ChunkGrid& grid);

}  // namespace warpfold
