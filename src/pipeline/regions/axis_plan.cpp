#include "pipeline/regions/axis_plan.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "core/layout/partition.hpp"
#include "core/results/axis_parts.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// A slab's bytes stay within 1 GiB, whatever the type of its elements.
constexpr std::uint64_t max_granule_elements = std::uint64_t{1} << 27;

/// What a rank's threads need for outputs, all together.
constexpr std::uint64_t max_output_bytes = std::uint64_t{256} << 20;

/// Enough for what each output needs to cost little beside the elements themselves.
constexpr std::uint64_t wanted_rows = 32;

/// Runs of as many elements are read well wherever they lie.
constexpr std::uint64_t min_outputs = 1024;

/// Items for each thread, so that all end at about the same time.
constexpr std::uint64_t items_of_thread = 4;

std::uint64_t wanted_items(const AxisResources& resources) {
  return items_of_thread * static_cast<std::uint64_t>(resources.threads) *
         static_cast<std::uint64_t>(resources.ranks);
}

AxisBoxLimits limits_of(const AxisResources& resources) {
  const std::uint64_t thread_bytes =
      max_output_bytes / static_cast<std::uint64_t>(resources.threads);
  return {resources.slab_elements, std::max(min_outputs, thread_bytes / resources.output_bytes),
          wanted_rows};
}

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

/// Returns the extents of some dimensions.
std::vector<std::uint64_t> extents_of(std::span<const std::uint64_t> shape,
                                      std::span<const int> dimensions) {
  std::vector<std::uint64_t> extents;
  for (const int d : dimensions) extents.push_back(shape[static_cast<std::size_t>(d)]);
  return extents;
}

std::vector<int> without(std::vector<int> dimensions, int dimension) {
  std::erase(dimensions, dimension);
  return dimensions;
}

/// Returns an array whose extent along the axis of its groups is that of the longest of their runs.
AxisShape longest_run_of(AxisShape array) {
  if (!array.groups) return array;
  const AxisGroups groups = *std::exchange(array.groups, std::nullopt);
  std::uint64_t longest = 1;
  for (const GroupRun& run : groups.runs) longest = std::max(longest, run.indices.count);
  array.shape[static_cast<std::size_t>(groups.dimension)] = longest;
  return array;
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

  /// Makes a granule that is beyond bounds smaller; its parts are then read apart.
  void bound_granule() {
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

  std::uint64_t rows() const { return product(extents_of(extent_, array_.along)); }
  std::uint64_t outputs() const { return product(extents_of(extent_, array_.across)); }

  /// Along one dimension, by whole granules, to at most `maximum` and to the limit of outputs.
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

/// Sets a box's ranges along some dimensions.
void place(const Hyperslab& part, std::span<const int> dimensions, Hyperslab& box) {
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto d = static_cast<std::size_t>(dimensions[i]);
    box.start[d] = part.start[i];
    box.count[d] = part.count[i];
  }
}

/// Returns the outputs of a granule.
std::uint64_t granule_outputs(const AxisShape& array, std::span<const std::uint64_t> granule) {
  std::uint64_t outputs = 1;
  for (const int d : array.across) {
    const auto i = static_cast<std::size_t>(d);
    outputs *= std::clamp<std::uint64_t>(granule[i], 1, array.shape[i]);
  }
  return outputs;
}

/// Makes boxes smaller until each rank has a tile, if there are outputs enough.
void cut_for_ranks(const AxisShape& array, int ranks, std::vector<std::uint64_t>& extents) {
  const auto tiles = [&] {
    return Tiling(array.output_shape(), extents_of(extents, array.across)).items();
  };
  for (const int d : array.across) {
    if (tiles() >= static_cast<std::uint64_t>(ranks)) return;
    std::uint64_t& extent = extents[static_cast<std::size_t>(d)];
    extent = ceil_div(extent, ceil_div(static_cast<std::uint64_t>(ranks), tiles()));
  }
}

/// Returns the bytes of what is needed of an output while it is reduced, handed over, and combined.
std::uint64_t reduced_output_bytes(const ReduceNeeds& needs) {
  constexpr std::uint64_t copies = 3;
  std::uint64_t bytes = sizeof(AxisCounts) + sizeof(std::uint64_t);
  for (const bool sum : {needs.sum, needs.absolute, needs.squares})
    if (sum) bytes += sizeof(Expansion);
  if (needs.extrema) bytes += 2 * sizeof(Extremum);
  return copies * bytes;
}

/// What an engine's thread needs for a line: an exact sum, and what goes with it.
constexpr std::uint64_t line_bytes = 96;

/// Returns what all ranks have, at least. A slab's elements have `element_bytes` in memory.
/// Collective.
AxisResources agree_on_axis_resources(const io::DatasetInfo& info, std::size_t element_bytes,
                                      std::uint64_t output_bytes, const Run& run) {
  const SlabPlan plan = plan_slabs(info, run);
  const std::uint64_t slab_bytes = plan.slab_elements * size_of(info.format.type);
  const std::vector<std::uint64_t> minimum =
      mpi::minimum({std::max<std::uint64_t>(1, slab_bytes / element_bytes),
                    static_cast<std::uint64_t>(plan.threads)},
                   run.communicator);
  return {minimum[0], output_bytes, static_cast<int>(minimum[1]), run.communicator.size()};
}

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

std::optional<AxisShape> lines_of(std::span<const std::uint64_t> shape,
                                  std::optional<std::int64_t> axis) {
  if (!axis) return std::nullopt;
  AxisShape lines({shape.begin(), shape.end()}, resolve_axes({&*axis, 1}, shape));
  if (lines.outputs() == 1) return std::nullopt;
  return lines;
}

std::vector<std::uint64_t> granule_of(const io::DatasetInfo& info) {
  if (info.layout != io::Layout::chunked) return std::vector<std::uint64_t>(info.shape.size(), 1);
  const Selection selection = io::selection_of(info);
  std::vector<std::uint64_t> granule;
  for (std::size_t d = 0; d < selection.size(); ++d)
    if (!selection[d].dropped) granule.push_back(ceil_div(info.chunk_shape[d], selection[d].step));
  return granule;
}

std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const AxisBoxLimits& limits) {
  BoxGrowth box(array, granule, limits);
  box.bound_granule();
  box.lengthen_runs(ceil_div(limits.elements, limits.rows));
  box.add_rows();
  box.fill();
  return std::move(box).extents();
}

AxisTiling::AxisTiling(AxisShape array, std::vector<std::uint64_t> box_extents,
                       std::uint64_t wanted_items)
    : array_(std::move(array)),
      box_extents_(std::move(box_extents)),
      grouped_(array_.groups ? array_.groups->dimension : array_.along.front()),
      other_axes_(without(array_.along, grouped_)),
      across_(extents_of(array_.shape, array_.across), extents_of(box_extents_, array_.across)),
      other_rows_(extents_of(array_.shape, other_axes_), extents_of(box_extents_, other_axes_)) {
  const std::vector<GroupRun> all{{{0, array_.shape[static_cast<std::size_t>(grouped_)]}, 0}};
  std::uint64_t boxes_before = 0;
  for (const auto& [indices, group] : array_.groups ? array_.groups->runs : all) {
    if (group == first_run_.size()) {
      first_run_.push_back(runs_.size());
      boxes_before = 0;
    }
    runs_.push_back({indices, boxes_before});
    boxes_before += boxes_along(indices);
  }
  first_run_.push_back(runs_.size());
  items_of_tile_ = std::min(max_boxes(), ceil_div(wanted_items, tiles()));
}

/// Boxes begin at multiples of their extent.
std::uint64_t AxisTiling::boxes_along(const ElementRange& indices) const {
  const std::uint64_t extent = box_extents_[static_cast<std::size_t>(grouped_)];
  return ceil_div(indices.end(), extent) - indices.first / extent;
}

std::span<const AxisTiling::Run> AxisTiling::runs_of(std::uint64_t group) const {
  return std::span(runs_).subspan(first_run_[group], first_run_[group + 1] - first_run_[group]);
}

std::uint64_t AxisTiling::boxes_of_group(std::uint64_t group) const {
  const Run& last = runs_of(group).back();
  return (last.boxes_before + boxes_along(last.indices)) * other_rows_.items();
}

std::uint64_t AxisTiling::boxes_of_tile(std::uint64_t tile) const {
  return boxes_of_group(tile / across_.items());
}

std::uint64_t AxisTiling::max_boxes() const {
  std::uint64_t boxes = 0;
  for (std::uint64_t group = 0; group < groups(); ++group)
    boxes = std::max(boxes, boxes_of_group(group));
  return boxes;
}

ElementRange AxisTiling::indices_of(std::uint64_t group, std::uint64_t box_along) const {
  const std::span<const Run> runs = runs_of(group);
  const Run& run =
      *std::prev(std::ranges::upper_bound(runs, box_along, std::less{}, &Run::boxes_before));
  const std::uint64_t extent = box_extents_[static_cast<std::size_t>(grouped_)];
  const std::uint64_t block = run.indices.first / extent + (box_along - run.boxes_before);
  const std::uint64_t first = std::max(run.indices.first, block * extent);
  return {first, std::min(run.indices.end() - first, (block + 1) * extent - first)};
}

ElementRange AxisTiling::boxes(std::uint64_t item) const {
  return partition(boxes_of_tile(tile(item)), 1, items_of_tile_, item % items_of_tile_);
}

Hyperslab AxisTiling::outputs(std::uint64_t tile) const {
  Hyperslab outputs = across_.region(tile % across_.items());
  if (!array_.groups) return outputs;
  const auto place = std::ranges::lower_bound(array_.across, grouped_) - array_.across.begin();
  outputs.start.insert(outputs.start.begin() + place, tile / across_.items());
  outputs.count.insert(outputs.count.begin() + place, 1);
  return outputs;
}

Hyperslab AxisTiling::box(std::uint64_t tile, std::uint64_t number) const {
  Hyperslab box{array_.shape, array_.shape};
  place(across_.region(tile % across_.items()), array_.across, box);
  place(other_rows_.region(number % other_rows_.items()), other_axes_, box);
  const auto [first, count] = indices_of(tile / across_.items(), number / other_rows_.items());
  place({{first}, {count}}, {&grouped_, 1}, box);
  return box;
}

std::vector<std::uint64_t> AxisTiling::matrix_strides(const Hyperslab& box) const {
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

BoxIndices AxisTiling::row_indices(const Hyperslab& box) const {
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

AxisTiling tile_for_axis_reduce(const AxisShape& array, std::span<const std::uint64_t> granule,
                                const AxisResources& resources) {
  return {array, choose_box_extents(longest_run_of(array), granule, limits_of(resources)),
          wanted_items(resources)};
}

AxisTiling tile_for_axis_scan(const AxisShape& array, std::span<const std::uint64_t> granule,
                              const AxisResources& resources, TileOwner owner) {
  AxisBoxLimits limits = limits_of(resources);
  const std::uint64_t fair = ceil_div(array.outputs(), wanted_items(resources));
  const std::uint64_t whole = owner == TileOwner::rank ? granule_outputs(array, granule) : 1;
  limits.outputs = std::min(limits.outputs, std::max({min_outputs, fair, whole}));
  std::vector<std::uint64_t> extents = choose_box_extents(array, granule, limits);
  if (owner == TileOwner::rank) cut_for_ranks(array, resources.ranks, extents);
  return {array, std::move(extents)};
}

int AxisPlan::threads_for(std::uint64_t items) const {
  const std::uint64_t parts = owner == TileOwner::rank ? items * tiling.max_boxes() : items;
  return static_cast<int>(std::min(static_cast<std::uint64_t>(threads), parts));
}

AxisPlan plan_axis_reduce(const io::DatasetInfo& info, const AxisShape& array,
                          const ReduceNeeds& needs, const Run& run) {
  const AxisResources resources =
      agree_on_axis_resources(info, size_of(info.format.type), reduced_output_bytes(needs), run);
  return {tile_for_axis_reduce(array, granule_of(info), resources), resources.threads};
}

AxisPlan plan_axis_scan(const io::DatasetInfo& info, const AxisShape& lines, ElementType output,
                        const Run& run) {
  const std::size_t widest = std::max(size_of(info.format.type), size_of(output));
  const AxisResources resources = agree_on_axis_resources(info, widest, line_bytes, run);
  const TileOwner owner = run.place.gpu ? TileOwner::thread : TileOwner::rank;
  return {tile_for_axis_scan(lines, granule_of(info), resources, owner), resources.threads, owner};
}

}  // namespace warpfold::pipeline
