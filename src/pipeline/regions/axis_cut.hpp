#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "io/dataset/hyperslab.hpp"

namespace warpfold::pipeline {

/// Axes as non-negative dimension numbers, rising: negative ones count from the last, as NumPy's.
/// Throws a usage Error for one that the shape does not have (lists those it has) and for one given
/// twice.
std::vector<int> resolve_axes(std::span<const std::int64_t> axes,
                              std::span<const std::uint64_t> shape);

/// An array seen as rows of outputs: a row for each place along its axes, an output for each place
/// along its other dimensions.
struct AxisShape {
  AxisShape(std::vector<std::uint64_t> shape, std::span<const int> axes);

  std::vector<std::uint64_t> shape;
  std::vector<int> along;   ///< dimensions, rising
  std::vector<int> across;  ///< the others, rising

  std::vector<std::uint64_t> row_shape() const { return extents(along); }
  std::vector<std::uint64_t> output_shape() const { return extents(across); }
  std::uint64_t rows() const { return product(row_shape()); }
  std::uint64_t outputs() const { return product(output_shape()); }

 private:
  std::vector<std::uint64_t> extents(std::span<const int> dimensions) const;
};

/// What a box of an AxisCut is to hold.
struct AxisBoxLimits {
  std::uint64_t elements = 1;  ///< the most, unless one granule has more
  std::uint64_t outputs = 1;   ///< the most, whatever the granule
  std::uint64_t rows = 1;      ///< wanted, so that what is kept for each output is used so often
};

/// Extents of boxes for an array that has elements: multiples of the granule where the limits allow
/// one, with long runs of consecutive elements.
std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const AxisBoxLimits& limits);

/// An array that has elements, cut into boxes of one shape, except at its ends. Boxes that differ
/// only in their rows form a tile, whose outputs are a box of the output array.
class AxisCut {
 public:
  AxisCut(AxisShape array, std::vector<std::uint64_t> box_extents);

  const AxisShape& array() const { return array_; }

  std::uint64_t tiles() const;
  std::uint64_t boxes_of_tile() const;  ///< the same for all
  io::Hyperslab box(std::uint64_t tile, std::uint64_t number) const;

  /// Of the output array.
  io::Hyperslab outputs(std::uint64_t tile) const;

  std::uint64_t max_elements() const;  ///< of a box
  std::uint64_t max_outputs() const;   ///< of a tile
  std::span<const std::uint64_t> box_extents() const { return box_extents_; }

  /// Strides that bring the box's elements to place row * outputs + output, both in row-major order
  /// of the box.
  std::vector<std::uint64_t> matrix_strides(const io::Hyperslab& box) const;

  /// Flat indices of the box's rows in the array of all rows.
  BoxIndices row_indices(const io::Hyperslab& box) const;

 private:
  /// Sets the box's ranges along `dimensions` to those of number `number` in their grid.
  void place(io::Hyperslab& box, std::span<const int> dimensions, std::uint64_t number) const;
  std::uint64_t boxes_along(int dimension) const;
  std::uint64_t boxes_along(std::span<const int> dimensions) const;

  AxisShape array_;
  std::vector<std::uint64_t> box_extents_;
};

/// Strides of a row-major array.
std::vector<std::uint64_t> row_major_strides(std::span<const std::uint64_t> shape);

/// Calls body(place, index, count) for each run of elements of a box that are consecutive in an
/// array of `shape`, too: the run's place in the box (row-major), its flat index in the array, its
/// elements. The box has elements.
template <class Body>
void for_each_run(const io::Hyperslab& box, std::span<const std::uint64_t> shape, Body&& body) {
  // Dimensions behind `split` are covered, so that a run goes through all of them.
  std::size_t split = shape.size();
  std::uint64_t run = 1;
  while (split > 0) {
    --split;
    run *= box.count[split];
    if (box.count[split] != shape[split]) break;
  }
  const std::vector<std::uint64_t> stride = row_major_strides(shape);
  std::vector<std::uint64_t> at(box.start);
  const std::uint64_t elements = box.elements();
  for (std::uint64_t place = 0; place < elements; place += run) {
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < at.size(); ++d) index += at[d] * stride[d];
    body(place, index, run);
    for (std::size_t d = split; d-- > 0;) {
      if (++at[d] < box.start[d] + box.count[d]) break;
      at[d] = box.start[d];
    }
  }
}

}  // namespace warpfold::pipeline
