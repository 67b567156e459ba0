#include "pipeline/regions/work_tiling.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

std::vector<int> grouped_axis_of(const AxisShape& array) {
  if (array.along.empty()) return {};
  return {array.groups ? array.groups->dimension : array.along.front()};
}

std::vector<int> without(std::vector<int> dimensions, const std::vector<int>& left_out) {
  for (const int dimension : left_out) std::erase(dimensions, dimension);
  return dimensions;
}

/// Returns the axes of rows, the innermost last.
std::vector<int> row_axes_of(const AxisShape& array) {
  std::vector<int> axes = array.along;
  std::stable_partition(axes.begin(), axes.end(), [&](int d) {
    return !array.factor_axes || std::ranges::count(*array.factor_axes, d) == 0;
  });
  return axes;
}

/// Sets a box's ranges along some dimensions.
void place(const Hyperslab& part, std::span<const int> dimensions, Hyperslab& box) {
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto d = static_cast<std::size_t>(dimensions[i]);
    box.start[d] = part.start[i];
    box.count[d] = part.count[i];
  }
}

}  // namespace

WorkTiling::WorkTiling(AxisShape array, std::vector<std::uint64_t> box_extents,
                       std::uint64_t wanted_items)
    : array_(std::move(array)),
      box_extents_(std::move(box_extents)),
      grouped_(grouped_axis_of(array_)),
      extent_along_(product(extents_of(box_extents_, grouped_))),
      other_axes_(without(array_.along, grouped_)),
      row_axes_(row_axes_of(array_)),
      across_(extents_of(array_.shape, array_.across), extents_of(box_extents_, array_.across)),
      other_rows_(extents_of(array_.shape, other_axes_), extents_of(box_extents_, other_axes_)) {
  const std::vector<GroupRun> all{{{0, product(extents_of(array_.shape, grouped_))}, 0}};
  std::uint64_t boxes_before = 0;
  std::uint64_t indices_before = 0;
  for (const auto& [indices, group] : array_.groups ? array_.groups->runs : all) {
    if (group == first_run_.size()) {
      first_run_.push_back(runs_.size());
      boxes_before = indices_before = 0;
    }
    runs_.push_back({indices, boxes_before, indices_before});
    boxes_before += boxes_along(indices);
    indices_before += indices.count;
  }
  first_run_.push_back(runs_.size());
  items_of_tile_ = std::min(max_boxes(), ceil_div(wanted_items, tiles()));
}

WorkTiling::WorkTiling(const Tiling& boxes, std::optional<ChunkGrid> chunks)
    : WorkTiling(all_rows(boxes.shape()), boxes.extents(), boxes.items()) {
  chunks_ = chunks;
}

std::uint64_t WorkTiling::elements(std::uint64_t item) const {
  if (chunks_) return box_target(*chunks_, chunks_of(all_boxes(), {item, 1})).elements;
  std::uint64_t elements = 0;
  const ElementRange numbers = boxes(item);
  for (std::uint64_t number = numbers.first; number < numbers.end(); ++number)
    elements += box(tile(item), number).elements();
  return elements;
}

ElementRange WorkTiling::items_with(ElementRange indices) const {
  if (indices.count == 0) return {};
  ElementRange places = indices;
  if (chunks_) {
    const ChunkRun run = chunks_overlapping(*chunks_, indices);
    places = {run.first, run.count};
  }
  const auto first_not = [this](const auto& lies_before) {
    std::uint64_t first = 0;
    std::uint64_t end = items();
    while (first < end) {
      const std::uint64_t middle = first + (end - first) / 2;
      if (lies_before(range(middle)))
        first = middle + 1;
      else
        end = middle;
    }
    return first;
  };
  const std::uint64_t first =
      first_not([&](const ElementRange& item) { return item.end() <= places.first; });
  const std::uint64_t end =
      first_not([&](const ElementRange& item) { return item.first < places.end(); });
  return {first, end - first};
}

std::uint64_t WorkTiling::max_elements() const {
  return chunks_ ? max_elements_of(all_boxes(), *chunks_) : max_places();
}

/// Boxes begin at multiples of their extent.
std::uint64_t WorkTiling::boxes_along(const ElementRange& indices) const {
  return ceil_div(indices.end(), extent_along_) - indices.first / extent_along_;
}

std::uint64_t WorkTiling::boxes_of_group(std::uint64_t group) const {
  const Run& last = last_run_of(group);
  return (last.boxes_before + boxes_along(last.indices)) * other_rows_.items();
}

std::uint64_t WorkTiling::max_boxes() const {
  std::uint64_t boxes = 0;
  for (std::uint64_t group = 0; group < groups(); ++group)
    boxes = std::max(boxes, boxes_of_group(group));
  return boxes;
}

const WorkTiling::Run& WorkTiling::run_of(std::uint64_t group, std::uint64_t box_along) const {
  const std::span runs(&runs_[first_run_[group]], first_run_[group + 1] - first_run_[group]);
  return *std::prev(std::ranges::upper_bound(runs, box_along, std::less{}, &Run::boxes_before));
}

std::pair<std::uint64_t, std::uint64_t> WorkTiling::box_along(std::uint64_t tile,
                                                              std::uint64_t number) const {
  const std::uint64_t others = other_rows_.items();
  const std::uint64_t along = boxes_of_tile(tile) / others;
  const auto& factors = array_.factor_axes;
  const bool same_factors = factors && std::ranges::count(*factors, grouped()) == 0;
  if (same_factors) return {number % along, number / along};
  return {number / others, number % others};
}

ElementRange WorkTiling::indices_of(std::uint64_t group, std::uint64_t box_along) const {
  const Run& run = run_of(group, box_along);
  const std::uint64_t block = run.indices.first / extent_along_ + (box_along - run.boxes_before);
  const std::uint64_t first = std::max(run.indices.first, block * extent_along_);
  return {first, std::min(run.indices.end() - first, (block + 1) * extent_along_ - first)};
}

ElementRange WorkTiling::boxes(std::uint64_t item) const {
  return partition(boxes_of_tile(tile(item)), 1, items_of_tile_, item % items_of_tile_);
}

Hyperslab WorkTiling::outputs(std::uint64_t tile) const {
  Hyperslab outputs = across_.region(region_of(tile));
  if (!array_.groups) return outputs;
  const auto place = std::ranges::lower_bound(array_.across, grouped()) - array_.across.begin();
  outputs.start.insert(outputs.start.begin() + place, group_of(tile));
  outputs.count.insert(outputs.count.begin() + place, 1);
  return outputs;
}

Hyperslab WorkTiling::box(std::uint64_t tile, std::uint64_t number) const {
  Hyperslab box{array_.shape, array_.shape};
  place(across_.region(region_of(tile)), array_.across, box);
  const auto [along, other] = box_along(tile, number);
  place(other_rows_.region(other), other_axes_, box);
  const auto [first, count] = indices_of(group_of(tile), along);
  place({{first}, {count}}, grouped_, box);
  return box;
}

std::vector<std::uint64_t> WorkTiling::tile_shape(std::uint64_t tile) const {
  Hyperslab all{array_.shape, array_.shape};
  place(across_.region(region_of(tile)), array_.across, all);
  const Run& last = last_run_of(group_of(tile));
  all.count[static_cast<std::size_t>(grouped())] = last.indices_before + last.indices.count;
  return all.count;
}

Hyperslab WorkTiling::box_in_tile(std::uint64_t tile, std::uint64_t number) const {
  Hyperslab part = box(tile, number);
  for (const int d : array_.across) part.start[static_cast<std::size_t>(d)] = 0;
  const Run& run = run_of(group_of(tile), box_along(tile, number).first);
  std::uint64_t& start = part.start[static_cast<std::size_t>(grouped())];
  start = run.indices_before + (start - run.indices.first);
  return part;
}

std::vector<std::uint64_t> WorkTiling::matrix_strides(const Hyperslab& box) const {
  std::vector<std::uint64_t> stride(box.count.size());
  std::uint64_t places = 1;
  for (const std::vector<int>* dimensions : {&array_.across, &row_axes_}) {
    for (std::size_t i = dimensions->size(); i-- > 0;) {
      const auto d = static_cast<std::size_t>((*dimensions)[i]);
      stride[d] = places;
      places *= box.count[d];
    }
  }
  return stride;
}

std::uint64_t WorkTiling::factor_places(const Hyperslab& box) const {
  if (!array_.factor_axes) return 0;
  return product(extents_of(box.count, array_.across)) *
         product(extents_of(box.count, *array_.factor_axes));
}

BoxIndices WorkTiling::row_indices(const Hyperslab& box) const {
  const std::vector<std::uint64_t> stride = row_major_strides(extents_of(array_.shape, row_axes_));
  BoxIndices indices;
  for (std::size_t i = 0; i < row_axes_.size(); ++i) {
    const auto d = static_cast<std::size_t>(row_axes_[i]);
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
