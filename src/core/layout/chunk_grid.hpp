#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/layout/partition.hpp"
#include "core/layout/selection.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// As many as HDF5 allows.
inline constexpr int max_dimensions = 32;

/// A dataset taken apart into chunks of one shape, numbered in row-major order of the grid that
/// they form. The last ones along a dimension may reach beyond the dataset. Extents are in
/// elements. Chunks hold fewer than 2^32 elements. Of a dataset of which only a part is selected,
/// those chunks count that hold selected elements; they have a position in the row-major order of
/// them.
struct ChunkGrid {
  int dimensions = 0;
  std::uint64_t extent[max_dimensions] = {};        ///< extents of the dataset
  std::uint64_t chunk_extent[max_dimensions] = {};  ///< 1 or more
  bool selective = false;                           ///< not everything is selected, but `slice`
  Slice slice[max_dimensions] = {};

  WARPFOLD_HD std::uint64_t chunks_along(int dimension) const {
    return ceil_div(extent[dimension], chunk_extent[dimension]);
  }
  std::uint64_t chunk_elements() const;

  /// Selected indices along a dimension.
  WARPFOLD_HD std::uint64_t selected_along(int dimension) const {
    return selective ? slice[dimension].count : extent[dimension];
  }

  /// Returns the selected indices along a dimension, counted from 0, that lie in the `chunk`-th
  /// chunk along it.
  WARPFOLD_HD ElementRange selected_of(int dimension, std::uint64_t chunk) const {
    const std::uint64_t first = chunk * chunk_extent[dimension];
    const std::uint64_t end = first + chunk_extent[dimension];
    const std::uint64_t begin = selected_before(dimension, first);
    return {begin, selected_before(dimension, end) - begin};
  }

  /// From one of them to the next.
  WARPFOLD_HD std::uint64_t step_along(int dimension) const {
    return selective ? slice[dimension].step : 1;
  }

  /// The most of them that a chunk has.
  WARPFOLD_HD std::uint64_t max_selected_of(int dimension) const {
    return ceil_div(chunk_extent[dimension], step_along(dimension));
  }

  /// The index in the dataset of a selected one.
  WARPFOLD_HD std::uint64_t index_of(int dimension, std::uint64_t selected) const {
    if (!selective) return selected;
    return slice[dimension].start + selected * slice[dimension].step;
  }

  /// Chunks along a dimension that count, and the place of one among them: that which has a
  /// selected index.
  std::uint64_t counting_along(int dimension) const;
  std::uint64_t place_along(int dimension, std::uint64_t selected) const;

  std::uint64_t chunks() const;  ///< that count
  std::uint64_t number_at(std::uint64_t position) const;
  std::optional<std::uint64_t> position_of(std::uint64_t number) const;  ///< none: does not count

 private:
  WARPFOLD_HD std::uint64_t selected_before(int dimension, std::uint64_t index) const {
    if (!selective) return index < extent[dimension] ? index : extent[dimension];
    const auto& [start, count, step, dropped] = slice[dimension];
    if (index <= start) return 0;
    const std::uint64_t before = ceil_div(index - start, step);
    return before < count ? before : count;
  }
};

/// The grid of a dataset, dimensions merged where fewer describe the same chunks with the same
/// numbers and places of elements: a dimension that each chunk covers joins the one before it, as
/// does one that follows chunk extents of 1 and is a whole number of chunks, as long as a slice
/// describes what is selected of both. `selection` has a slice for each dimension, or is empty.
ChunkGrid chunk_grid(std::span<const std::uint64_t> shape,
                     std::span<const std::uint64_t> chunk_shape, const Selection& selection = {});

/// The same, all dimensions kept.
ChunkGrid unmerged_grid(std::span<const std::uint64_t> shape,
                        std::span<const std::uint64_t> chunk_shape, const Selection& selection);

/// Chunks [first, first + count) by position.
struct ChunkRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return first + count; }
  bool operator==(const ChunkRun&) const = default;
};

/// The chunks that hold elements of a flat range of those selected, and few others.
ChunkRun chunks_overlapping(const ChunkGrid& grid, ElementRange range);

/// Returns no fewer than chunks_overlapping() gives for any range of so many elements.
std::uint64_t max_chunks_overlapping(const ChunkGrid& grid, std::uint64_t elements);

}  // namespace warpfold
