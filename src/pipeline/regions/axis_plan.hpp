#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "core/layout/staged_chunks.hpp"
#include "core/layout/tiling.hpp"
#include "core/results/accumulator.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::pipeline {

/// Returns axes as non-negative dimension numbers, rising: negative ones count from the last, as
/// NumPy's. Throws a usage Error for one that the shape does not have (lists those it has) and for
/// one given twice.
std::vector<int> resolve_axes(std::span<const std::int64_t> axes,
                              std::span<const std::uint64_t> shape);

/// Consecutive indices along an axis that belong to one group.
struct GroupRun {
  ElementRange indices;
  std::uint64_t group = 0;
};

/// The groups in which the rows of an array are reduced, by their index along one of its axes.
struct AxisGroups {
  int dimension = 0;  ///< that axis
  std::uint64_t count = 0;
  std::vector<GroupRun> runs;  ///< by group
};

/// Returns groups of `length` (1 or more) consecutive indices, the last of what is left.
AxisGroups groups_of_length(std::uint64_t length, int dimension, std::uint64_t extent);

/// An array seen as rows of outputs: a row for each place along its axes, an output for each place
/// along its other dimensions, or for each of these and each group of rows.
struct AxisShape {
  AxisShape(std::vector<std::uint64_t> shape, std::span<const int> axes,
            std::optional<AxisGroups> groups = std::nullopt);

  std::vector<std::uint64_t> shape;
  std::vector<int> along;   ///< dimensions, rising
  std::vector<int> across;  ///< the others, rising
  std::optional<AxisGroups> groups;

  std::vector<int> kept() const;  ///< the dimensions of outputs, rising
  std::vector<std::uint64_t> row_shape() const;
  std::vector<std::uint64_t> output_shape() const;
  std::uint64_t rows() const { return product(row_shape()); }
  std::uint64_t outputs() const { return product(output_shape()); }
};

/// Returns a dataset as lines along the axis of a scan; nothing where it is to be scanned as a
/// whole, as one line is. Throws as resolve_axes().
std::optional<AxisShape> lines_of(std::span<const std::uint64_t> shape,
                                  std::optional<std::int64_t> axis);

/// Returns extents for which boxes are read best: those whose counts and starts are multiples of
/// them; the chunks' where the dataset is chunked, otherwise 1 along all dimensions.
std::vector<std::uint64_t> granule_of(const io::DatasetInfo& info);

/// What a box of an AxisTiling is to hold.
struct AxisBoxLimits {
  std::uint64_t elements = 1;  ///< the most, unless one granule has more
  std::uint64_t outputs = 1;   ///< the most, whatever the granule
  std::uint64_t rows = 1;      ///< wanted, so that what each output needs is used so often
};

/// Returns extents of boxes for an array that has elements: multiples of the granule where the
/// limits allow one, with long runs of consecutive elements.
std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const AxisBoxLimits& limits);

/// An array that has elements, taken apart into boxes of one shape, except at its ends and where
/// rows of one group end. Boxes that differ only in their rows, of one group, form a tile, whose
/// outputs are a box of the output array. Items share a tile's boxes, and are numbered tile by
/// tile.
class AxisTiling {
 public:
  /// Makes at most `wanted_items` items where tiles are fewer, otherwise one of each tile.
  AxisTiling(AxisShape array, std::vector<std::uint64_t> box_extents,
             std::uint64_t wanted_items = 1);

  const AxisShape& array() const { return array_; }
  const std::vector<std::uint64_t>& box_extents() const { return box_extents_; }
  std::uint64_t max_outputs() const { return across_.max_places(); }  ///< of a tile

  std::uint64_t tiles() const { return groups() * across_.items(); }
  std::uint64_t items_of_tile() const { return items_of_tile_; }
  std::uint64_t items() const { return tiles() * items_of_tile_; }
  std::uint64_t tile(std::uint64_t item) const { return item / items_of_tile_; }
  ElementRange boxes(std::uint64_t item) const;  ///< of its tile, by number

  Hyperslab outputs(std::uint64_t tile) const;  ///< of the output array
  std::uint64_t boxes_of_tile(std::uint64_t tile) const;
  std::uint64_t max_boxes() const;  ///< of a tile
  Hyperslab box(std::uint64_t tile, std::uint64_t number) const;
  std::uint64_t max_elements() const { return product(box_extents_); }  ///< of a box

  /// Returns strides that bring a box's elements to place row * outputs + output, both in row-major
  /// order of the box.
  std::vector<std::uint64_t> matrix_strides(const Hyperslab& box) const;

  /// Returns the flat indices of a box's rows in the array of all rows.
  BoxIndices row_indices(const Hyperslab& box) const;

 private:
  /// Indices along the axis of the groups, and how many boxes the group has along it before them.
  struct Run {
    ElementRange indices;
    std::uint64_t boxes_before = 0;
  };

  std::uint64_t groups() const { return first_run_.size() - 1; }
  std::uint64_t boxes_along(const ElementRange& indices) const;
  std::span<const Run> runs_of(std::uint64_t group) const;
  std::uint64_t boxes_of_group(std::uint64_t group) const;
  ElementRange indices_of(std::uint64_t group, std::uint64_t box_along) const;

  AxisShape array_;
  std::vector<std::uint64_t> box_extents_;
  int grouped_;                  ///< the axis of the groups; without any, of one group
  std::vector<int> other_axes_;  ///< rising
  Tiling across_;                ///< the same for all groups
  Tiling other_rows_;
  std::vector<Run> runs_;                 ///< by group
  std::vector<std::uint64_t> first_run_;  ///< of each group, and the number of all
  std::uint64_t items_of_tile_ = 1;
};

/// What work along axes is done with.
struct AxisResources {
  std::uint64_t slab_elements = 1;
  std::uint64_t output_bytes = 1;  ///< that a thread needs for each output
  int threads = 1;                 ///< of each rank
  int ranks = 1;
};

/// Returns a tiling for reducing: threads and ranks may share a tile.
AxisTiling tile_for_axis_reduce(const AxisShape& array, std::span<const std::uint64_t> granule,
                                const AxisResources& resources);

/// Whose a tile is while it is scanned.
enum class TileOwner : std::uint8_t {
  thread,  ///< so that there are to be several for each
  rank,    ///< so that there is to be one for each, of whole granules if that many are there
};

/// Returns a tiling for scanning.
AxisTiling tile_for_axis_scan(const AxisShape& array, std::span<const std::uint64_t> granule,
                              const AxisResources& resources, TileOwner owner);

/// How a dataset that has elements is worked through along axes, the same on every rank.
struct AxisPlan {
  AxisTiling tiling;
  int threads = 1;  ///< of each rank, that it has at least
  TileOwner owner = TileOwner::thread;

  /// Returns how many threads have work where a rank has so many items.
  int threads_for(std::uint64_t items) const;
};

/// Return the plan that all ranks can follow, for reducing what is needed and for scanning lines.
/// Collective.
AxisPlan plan_axis_reduce(const io::DatasetInfo& info, const AxisShape& array,
                          const ReduceNeeds& needs, const Run& run);
AxisPlan plan_axis_scan(const io::DatasetInfo& info, const AxisShape& lines, ElementType output,
                        const Run& run);

}  // namespace warpfold::pipeline
