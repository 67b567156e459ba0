#include "pipeline/regions/axis_plan.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
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

/// Limit of the memory for outputs of all threads of a rank together.
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

/// Returns the outputs of a granule.
std::uint64_t granule_outputs(const AxisShape& array, std::span<const std::uint64_t> granule) {
  std::uint64_t outputs = 1;
  for (const int d : array.across) {
    const auto i = static_cast<std::size_t>(d);
    outputs *= std::clamp<std::uint64_t>(granule[i], 1, array.shape[i]);
  }
  return outputs;
}

/// Returns an array whose outputs are the elements that share a factor, where these are many, and
/// granules need not be read in parts for them.
AxisShape pools_of(AxisShape array, std::span<const std::uint64_t> granule,
                   std::uint64_t max_outputs) {
  constexpr std::uint64_t least_pool = 8;
  if (!array.factor_axes || array.factor_axes->empty()) return array;
  const std::uint64_t factors = product(extents_of(array.shape, *array.factor_axes));
  if (array.rows() / factors < least_pool) return array;
  std::vector<int> along;
  std::ranges::set_difference(array.along, *array.factor_axes, std::back_inserter(along));
  AxisShape pools(array.shape, along);
  return granule_outputs(pools, granule) <= max_outputs ? pools : array;
}

/// Makes boxes smaller until each rank has a tile, if there are outputs enough.
void cut_for_ranks(const AxisShape& array, int ranks, std::vector<std::uint64_t>& extents) {
  const std::uint64_t groups = array.groups ? array.groups->count : 1;
  const auto tiles = [&] {
    return groups *
           Tiling(extents_of(array.shape, array.across), extents_of(extents, array.across)).items();
  };
  for (const int d : array.across) {
    if (tiles() >= static_cast<std::uint64_t>(ranks)) return;
    std::uint64_t& extent = extents[static_cast<std::size_t>(d)];
    extent = ceil_div(extent, ceil_div(static_cast<std::uint64_t>(ranks), tiles()));
  }
}

/// Returns how many elements an output has at most.
std::uint64_t longest_line(const AxisShape& array) {
  if (!array.groups) return array.rows();
  std::vector<std::uint64_t> indices(array.groups->count);
  for (const GroupRun& run : array.groups->runs) indices[run.group] += run.indices.count;
  const std::uint64_t along = array.shape[static_cast<std::size_t>(array.groups->dimension)];
  return array.rows() / along * *std::ranges::max_element(indices);
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

/// Memory that an engine's thread needs for a line: an exact sum and its state.
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

AxisTiling tile_for_axis_reduce(const AxisShape& array, std::span<const std::uint64_t> granule,
                                const AxisResources& resources) {
  const AxisBoxLimits limits = limits_of(resources);
  const AxisShape pools = pools_of(longest_run_of(array), granule, limits.outputs);
  return {array, choose_box_extents(pools, granule, limits), wanted_items(resources)};
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

BoxPlan plan_boxes(const io::DatasetInfo& info, const Run& run) {
  const AxisResources resources = agree_on_axis_resources(info, size_of(info.format.type), 1, run);
  std::vector<int> axes(info.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  return {
      {info.shape, choose_box_extents({info.shape, axes}, granule_of(info), limits_of(resources))},
      resources.threads};
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

AxisPlan plan_axis_quantiles(const io::DatasetInfo& info, const AxisShape& array,
                             std::size_t element_bytes, std::uint64_t memory, const Run& run) {
  const std::uint64_t longest_bytes = longest_line(array) * element_bytes;
  if (longest_bytes > memory)
    throw Error("the elements of an output take " + std::to_string(longest_bytes) + " bytes",
                "quantiles along axes are found in " + std::to_string(memory) +
                    " bytes of each rank's memory",
                "Raise `quantile_memory_bytes`, reduce fewer at a time with `every`, or omit "
                "`axis` to reduce all elements.");
  const AxisResources resources = agree_on_axis_resources(info, size_of(info.format.type), 1, run);
  const std::vector<std::uint64_t> granule = granule_of(info);
  const AxisBoxLimits limits{resources.slab_elements, memory / longest_bytes, wanted_rows};
  std::vector<std::uint64_t> extents = choose_box_extents(longest_run_of(array), granule, limits);
  cut_for_ranks(array, resources.ranks, extents);
  return {{array, std::move(extents)}, resources.threads, TileOwner::rank};
}

}  // namespace warpfold::pipeline
