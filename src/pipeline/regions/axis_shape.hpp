#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

std::vector<std::uint64_t> extents_of(std::span<const std::uint64_t> shape,
                                      std::span<const int> dimensions);

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
  std::vector<GroupRun> runs;  ///< one per group
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
  /// Dimensions of `along` that the elements' factors vary along, rising; none if nothing is known
  /// of factors.
  std::optional<std::vector<int>> factor_axes;

  std::vector<int> kept() const;  ///< the dimensions of outputs, rising
  std::vector<std::uint64_t> row_shape() const;
  std::vector<std::uint64_t> output_shape() const;
  std::uint64_t rows() const { return product(row_shape()); }
  std::uint64_t outputs() const { return product(output_shape()); }
};

/// Returns an array of a single output.
AxisShape all_rows(std::vector<std::uint64_t> shape);

/// Returns a dataset as lines along the axis of a scan; nothing where it is to be scanned as a
/// whole, as one line is. Throws as resolve_axes().
std::optional<AxisShape> lines_of(std::span<const std::uint64_t> shape,
                                  std::optional<std::int64_t> axis);

}  // namespace warpfold::pipeline
