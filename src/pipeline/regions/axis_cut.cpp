#include "pipeline/regions/axis_cut.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "core/layout/partition.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// A slab's bytes stay within 1 GiB, whatever the type of its elements.
constexpr std::uint64_t max_granule_elements = std::uint64_t{1} << 27;

Error no_such_axis(std::int64_t axis, std::size_t dimensions) {
  const std::string what = "there is no axis " + std::to_string(axis);
  if (dimensions == 0)
    return usage_error(what, "the dataset has no dimensions", "Leave out `axis`.");
  const std::string last = std::to_string(dimensions - 1);
  return usage_error(what,
                     "the dataset has " + std::to_string(dimensions) +
                         (dimensions == 1 ? " dimension" : " dimensions"),
                     "Choose from 0 to " + last + ", or from -" + std::to_string(dimensions) +
                         " to -1, which count from the last.");
}

/// Grows boxes from the granule to the limits.
class BoxGrowth {
 public:
  BoxGrowth(const AxisShape& array, std::span<const std::uint64_t> granule,
            const AxisBoxLimits& limits)
      : array_(array), granule_(granule.begin(), granule.end()), limits_(limits) {
    for (std::size_t d = 0; d < granule_.size(); ++d)
      granule_[d] = std::clamp<std::uint64_t>(granule_[d], 1, array_.shape[d]);
    extent_ = granule_;
  }

  /// Cuts a granule that is beyond bounds; its parts are then read apart.
  void cut_granule() {
    for (const int d : array_.across) shrink(d, limits_.outputs / (outputs() / extent(d)));
    for (int d = 0; d < dimensions(); ++d)
      shrink(d, max_granule_elements / (product(extent_) / extent(d)));
  }

  /// Along trailing dimensions, as long as the box's elements are consecutive.
  void lengthen_runs(std::uint64_t elements) {
    for (int d = dimensions() - 1; d >= 0; --d) {
      grow(d, elements / (product(extent_) / extent(d)));
      if (extent(d) != array_.shape[static_cast<std::size_t>(d)]) return;
    }
  }

  void add_rows() {
    for (std::size_t i = array_.along.size(); i-- > 0;) {
      const int d = array_.along[i];
      grow(d, std::min(limits_.elements / (product(extent_) / extent(d)),
                       ceil_div(limits_.rows, rows() / extent(d))));
    }
  }

  void fill() {
    for (int d = dimensions() - 1; d >= 0; --d)
      grow(d, limits_.elements / (product(extent_) / extent(d)));
  }

  std::vector<std::uint64_t> extents() && { return std::move(extent_); }

 private:
  int dimensions() const { return static_cast<int>(extent_.size()); }
  std::uint64_t& extent(int d) { return extent_[static_cast<std::size_t>(d)]; }

  std::uint64_t extents_along(std::span<const int> chosen) const {
    std::uint64_t all = 1;
    for (const int d : chosen) all *= extent_[static_cast<std::size_t>(d)];
    return all;
  }
  std::uint64_t rows() const { return extents_along(array_.along); }
  std::uint64_t outputs() const { return extents_along(array_.across); }

  /// Along one dimension, by whole granules, to at most `most` and to the limit of outputs.
  void grow(int d, std::uint64_t maximum) {
    const bool across =
        std::find(array_.across.begin(), array_.across.end(), d) != array_.across.end();
    if (across) maximum = std::min(maximum, limits_.outputs / (outputs() / extent(d)));
    const std::uint64_t shape = array_.shape[static_cast<std::size_t>(d)];
    const std::uint64_t granule = granule_[static_cast<std::size_t>(d)];
    extent(d) = maximum >= shape ? shape : std::max(extent(d), maximum - maximum % granule);
  }

  void shrink(int d, std::uint64_t maximum) {
    extent(d) = std::clamp<std::uint64_t>(maximum, 1, extent(d));
    granule_[static_cast<std::size_t>(d)] = extent(d);
  }

  const AxisShape& array_;
  std::vector<std::uint64_t> granule_;
  AxisBoxLimits limits_;
  std::vector<std::uint64_t> extent_;
};

}  // namespace

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

std::vector<std::uint64_t> row_major_strides(std::span<const std::uint64_t> shape) {
  std::vector<std::uint64_t> stride(shape.size());
  std::uint64_t elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    stride[d] = elements;
    elements *= shape[d];
  }
  return stride;
}

AxisShape::AxisShape(std::vector<std::uint64_t> extents, std::span<const int> axes)
    : shape(std::move(extents)), along(axes.begin(), axes.end()) {
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    if (!std::binary_search(along.begin(), along.end(), d)) across.push_back(d);
}

std::vector<std::uint64_t> AxisShape::extents(std::span<const int> dimensions) const {
  std::vector<std::uint64_t> chosen;
  for (const int d : dimensions) chosen.push_back(shape[static_cast<std::size_t>(d)]);
  return chosen;
}

std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const AxisBoxLimits& limits) {
  BoxGrowth box(array, granule, limits);
  box.cut_granule();
  box.lengthen_runs(ceil_div(limits.elements, limits.rows));
  box.add_rows();
  box.fill();
  return std::move(box).extents();
}

AxisCut::AxisCut(AxisShape array, std::vector<std::uint64_t> box_extents)
    : array_(std::move(array)), box_extents_(std::move(box_extents)) {}

std::uint64_t AxisCut::boxes_along(int dimension) const {
  const auto d = static_cast<std::size_t>(dimension);
  return ceil_div(array_.shape[d], box_extents_[d]);
}

std::uint64_t AxisCut::boxes_along(std::span<const int> dimensions) const {
  std::uint64_t boxes = 1;
  for (const int d : dimensions) boxes *= boxes_along(d);
  return boxes;
}

std::uint64_t AxisCut::tiles() const { return boxes_along(array_.across); }
std::uint64_t AxisCut::boxes_of_tile() const { return boxes_along(array_.along); }

void AxisCut::place(io::Hyperslab& box, std::span<const int> dimensions,
                    std::uint64_t number) const {
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    const std::uint64_t boxes = boxes_along(dimensions[i]);
    const auto d = static_cast<std::size_t>(dimensions[i]);
    const ElementRange range = block_range(array_.shape[d], box_extents_[d], number % boxes);
    box.start[d] = range.first;
    box.count[d] = range.count;
    number /= boxes;
  }
}

io::Hyperslab AxisCut::box(std::uint64_t tile, std::uint64_t number) const {
  io::Hyperslab box{std::vector<std::uint64_t>(array_.shape.size()),
                    std::vector<std::uint64_t>(array_.shape.size())};
  place(box, array_.across, tile);
  place(box, array_.along, number);
  return box;
}

io::Hyperslab AxisCut::outputs(std::uint64_t tile) const {
  const io::Hyperslab whole = box(tile, 0);
  io::Hyperslab outputs;
  for (const int dimension : array_.across) {
    const auto d = static_cast<std::size_t>(dimension);
    outputs.start.push_back(whole.start[d]);
    outputs.count.push_back(whole.count[d]);
  }
  return outputs;
}

std::uint64_t AxisCut::max_elements() const { return product(box_extents_); }

std::uint64_t AxisCut::max_outputs() const {
  std::uint64_t outputs = 1;
  for (const int d : array_.across) outputs *= box_extents_[static_cast<std::size_t>(d)];
  return outputs;
}

std::vector<std::uint64_t> AxisCut::matrix_strides(const io::Hyperslab& box) const {
  std::vector<std::uint64_t> stride(box.count.size());
  std::uint64_t places = 1;
  for (const std::vector<int>* dimensions : {&array_.across, &array_.along}) {
    for (std::size_t i = dimensions->size(); i-- > 0;) {
      const auto d = static_cast<std::size_t>((*dimensions)[i]);
      stride[d] = places;
      places *= box.count[d];
    }
  }
  return stride;
}

BoxIndices AxisCut::row_indices(const io::Hyperslab& box) const {
  const std::vector<std::uint64_t> stride = row_major_strides(array_.row_shape());
  BoxIndices indices;
  for (std::size_t i = 0; i < array_.along.size(); ++i) {
    const auto d = static_cast<std::size_t>(array_.along[i]);
    indices.first += box.start[d] * stride[i];
    // A dimension that the box covers continues the indices of the one before it.
    const bool joins = indices.dimensions > 0 && box.count[d] == array_.shape[d];
    if (!joins) indices.extent[indices.dimensions++] = 1;
    const int last = indices.dimensions - 1;
    indices.extent[last] *= box.count[d];
    indices.stride[last] = stride[i];
  }
  if (indices.dimensions == 1 && indices.stride[0] == 1) indices.dimensions = 0;
  return indices;
}

}  // namespace warpfold::pipeline
