#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/hyperslab.hpp"
#include "core/layout/staged_chunks.hpp"
#include "core/layout/tiling.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// A dataset taken apart into boxes of one shape, except at its ends and where rows of one group
/// end. Boxes that differ only in their rows, of one group, form a tile, whose outputs are a box of
/// the output array; those of the same outputs but for their groups follow one another. Items share
/// a tile's boxes, and are numbered tile by tile. Slabs and blocks are the boxes of a single tile:
/// consecutive elements, or consecutive chunks of a grid.
class WorkTiling {
 public:
  /// Makes at most `wanted_items` items where tiles are fewer, otherwise one of each tile. The
  /// array has elements.
  WorkTiling(AxisShape array, std::vector<std::uint64_t> box_extents,
             std::uint64_t wanted_items = 1);

  /// Makes an item of each box: of elements, or of the chunks of a grid that count.
  explicit WorkTiling(const Tiling& boxes, std::optional<ChunkGrid> chunks = std::nullopt);

  const AxisShape& array() const { return array_; }
  const std::vector<std::uint64_t>& box_extents() const { return box_extents_; }
  bool in_chunks() const { return chunks_.has_value(); }
  int grouped() const { return grouped_.front(); }

  std::uint64_t tiles() const { return groups() * across_.items(); }
  std::uint64_t items_of_tile() const { return items_of_tile_; }
  std::uint64_t items() const { return tiles() * items_of_tile_; }
  std::uint64_t tile(std::uint64_t item) const { return item / items_of_tile_; }
  ElementRange boxes(std::uint64_t item) const;  ///< numbers of boxes of its tile
  std::uint64_t elements(std::uint64_t item) const;

  /// Returns the elements or chunks, by position, of consecutive items that are slabs or blocks.
  /// Past the last item there are none.
  ElementRange range(ElementRange items) const { return all_boxes().range(items); }
  ElementRange range(std::uint64_t item) const { return range({item, 1}); }

  /// Returns the items, slabs or blocks, that have elements at some flat indices.
  ElementRange items_with(ElementRange indices) const;

  /// The most of a box: elements or chunks, elements; the most outputs of a tile.
  std::uint64_t max_places() const { return all_boxes().max_places(); }
  std::uint64_t max_elements() const;
  std::uint64_t max_outputs() const { return across_.max_places(); }

  Hyperslab outputs(std::uint64_t tile) const;  ///< part of the output array
  std::uint64_t boxes_of_tile(std::uint64_t tile) const { return boxes_of_group(group_of(tile)); }
  std::uint64_t max_boxes() const;  ///< maximum per tile
  Hyperslab box(std::uint64_t tile, std::uint64_t number) const;

  /// Returns the shape of the array that a tile's boxes make up, whose dimensions are the array's;
  /// the indices of its group are consecutive there. And where a box is in it.
  std::vector<std::uint64_t> tile_shape(std::uint64_t tile) const;
  Hyperslab box_in_tile(std::uint64_t tile, std::uint64_t number) const;

  /// Returns strides that bring a box's elements to place row * outputs + output, both in row-major
  /// order of the box, but for axes of factors, which are the innermost of rows.
  std::vector<std::uint64_t> matrix_strides(const Hyperslab& box) const;

  /// Returns the places of a box after which factors repeat; 0 if nothing is known of factors.
  std::uint64_t factor_places(const Hyperslab& box) const;

  /// Returns the flat indices of a box's rows in the array of all rows.
  BoxIndices row_indices(const Hyperslab& box) const;

 private:
  /// Indices along the axis of the groups, and how many boxes and indices the group has along it
  /// before them.
  struct Run {
    ElementRange indices;
    std::uint64_t boxes_before = 0;
    std::uint64_t indices_before = 0;
  };

  Tiling all_boxes() const { return {array_.shape, box_extents_}; }
  std::uint64_t groups() const { return first_run_.size() - 1; }
  std::uint64_t group_of(std::uint64_t tile) const { return tile % groups(); }
  std::uint64_t region_of(std::uint64_t tile) const { return tile / groups(); }
  std::uint64_t boxes_along(const ElementRange& indices) const;
  const Run& last_run_of(std::uint64_t group) const { return runs_[first_run_[group + 1] - 1]; }
  std::uint64_t boxes_of_group(std::uint64_t group) const;
  const Run& run_of(std::uint64_t group, std::uint64_t box_along) const;

  /// Returns the place of a box of a tile along the axis of the groups, and among other rows. Boxes
  /// with the same factors follow one another.
  std::pair<std::uint64_t, std::uint64_t> box_along(std::uint64_t tile, std::uint64_t number) const;
  ElementRange indices_of(std::uint64_t group, std::uint64_t box_along) const;

  AxisShape array_;
  std::vector<std::uint64_t> box_extents_;
  std::vector<int> grouped_;     ///< the axis of the groups, or of one group; none without axes
  std::uint64_t extent_along_;   ///< extent of boxes along it
  std::vector<int> other_axes_;  ///< rising
  std::vector<int> row_axes_;    ///< all, those of factors last
  Tiling across_;                ///< the same for all groups
  Tiling other_rows_;
  std::vector<Run> runs_;                 ///< one per group
  std::vector<std::uint64_t> first_run_;  ///< first run of each group, and the number of runs
  std::uint64_t items_of_tile_ = 1;
  std::optional<ChunkGrid> chunks_;  ///< whose positions are the array's places
};

}  // namespace warpfold::pipeline
