#include "pipeline/regions/axis_shape.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/layout/partition.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

Error no_such_axis(std::int64_t axis, std::size_t dimensions) {
  const std::string what = "there is no axis " + std::to_string(axis);
  if (dimensions == 0) return usage_error(what, "the dataset has no dimensions", "Omit `axis`.");
  const std::string last = std::to_string(dimensions - 1);
  return usage_error(what,
                     "the dataset has " + std::to_string(dimensions) +
                         (dimensions == 1 ? " dimension" : " dimensions"),
                     "Choose from 0 to " + last + ", or from -" + std::to_string(dimensions) +
                         " to -1, which count from the last.");
}

}  // namespace

std::vector<std::uint64_t> extents_of(std::span<const std::uint64_t> shape,
                                      std::span<const int> dimensions) {
  std::vector<std::uint64_t> extents;
  for (const int d : dimensions) extents.push_back(shape[static_cast<std::size_t>(d)]);
  return extents;
}

std::vector<int> resolve_axes(std::span<const std::int64_t> axes,
                              std::span<const std::uint64_t> shape) {
  const auto dimensions = static_cast<std::int64_t>(shape.size());
  std::vector<int> resolved;
  for (const std::int64_t axis : axes) {
    if (axis < -dimensions || axis >= dimensions) throw no_such_axis(axis, shape.size());
    resolved.push_back(static_cast<int>(axis < 0 ? axis + dimensions : axis));
  }
  std::sort(resolved.begin(), resolved.end());
  const auto twice = std::adjacent_find(resolved.begin(), resolved.end());
  if (twice != resolved.end())
    throw usage_error("axis " + std::to_string(*twice) + " is given twice", "",
                      "Name each axis once.");
  return resolved;
}

AxisGroups groups_of_length(std::uint64_t length, int dimension, std::uint64_t extent) {
  AxisGroups groups{dimension, ceil_div(extent, length), {}};
  groups.runs.reserve(groups.count);
  for (std::uint64_t group = 0; group < groups.count; ++group)
    groups.runs.push_back({block_range(extent, length, group), group});
  return groups;
}

AxisShape::AxisShape(std::vector<std::uint64_t> extents, std::span<const int> axes,
                     std::optional<AxisGroups> groups_of_rows)
    : shape(std::move(extents)),
      along(axes.begin(), axes.end()),
      groups(std::move(groups_of_rows)) {
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    if (!std::binary_search(along.begin(), along.end(), d)) across.push_back(d);
}

std::vector<std::uint64_t> AxisShape::row_shape() const { return extents_of(shape, along); }

std::vector<int> AxisShape::kept() const {
  std::vector<int> dimensions = across;
  if (groups)
    dimensions.insert(std::ranges::lower_bound(dimensions, groups->dimension), groups->dimension);
  return dimensions;
}

std::vector<std::uint64_t> AxisShape::output_shape() const {
  std::vector<std::uint64_t> extents = shape;
  if (groups) extents[static_cast<std::size_t>(groups->dimension)] = groups->count;
  return extents_of(extents, kept());
}

AxisShape all_rows(std::vector<std::uint64_t> shape) {
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  return {std::move(shape), axes};
}

std::optional<AxisShape> lines_of(std::span<const std::uint64_t> shape,
                                  std::optional<std::int64_t> axis) {
  if (!axis) return std::nullopt;
  AxisShape lines({shape.begin(), shape.end()}, resolve_axes({&*axis, 1}, shape));
  if (lines.outputs() == 1) return std::nullopt;
  return lines;
}

}  // namespace warpfold::pipeline
