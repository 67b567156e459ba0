#include "pipeline/regions/box_tiling.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// A slab's bytes stay within 1 GiB, whatever the type of its elements.
constexpr std::uint64_t max_granule_elements = std::uint64_t{1} << 27;

/// Limit of the memory for outputs of all threads of a rank together, unless those of whole chunks
/// need more: parts of chunks would be decompressed one by one.
constexpr std::uint64_t max_output_bytes = std::uint64_t{256} << 20;

/// Enough for what each output needs to cost little beside the elements themselves.
constexpr std::uint64_t wanted_rows = 32;

/// Enough of whole chunks, which take more time to decompress.
constexpr std::uint64_t least_rows = 16;

/// Runs of as many elements are read well wherever they lie.
constexpr std::uint64_t min_outputs = 1024;

/// Items for each thread, so that all end at about the same time.
constexpr std::uint64_t items_of_thread = 4;

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
  BoxGrowth(const AxisShape& array, std::span<const std::uint64_t> granule, const BoxLimits& limits)
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
  BoxLimits limits_;
  std::vector<std::uint64_t> extent_;
};

/// Returns the extent of a granule along some dimensions of an array.
std::uint64_t granule_extent(const AxisShape& array, std::span<const int> dimensions,
                             std::span<const std::uint64_t> granule) {
  std::uint64_t extent = 1;
  for (const int d : dimensions) {
    const auto i = static_cast<std::size_t>(d);
    extent *= std::clamp<std::uint64_t>(granule[i], 1, array.shape[i]);
  }
  return extent;
}

/// Returns the elements of a box that has the outputs of one granule, and `least_rows` rows or
/// more.
std::uint64_t column_elements(const AxisShape& array, std::span<const std::uint64_t> granule) {
  return granule_outputs(array, granule) *
         round_up(least_rows, granule_extent(array, array.along, granule));
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

}  // namespace

std::vector<std::uint64_t> granule_of(const io::DatasetInfo& info) {
  if (info.layout != io::Layout::chunked) return std::vector<std::uint64_t>(info.shape.size(), 1);
  const Selection selection = io::selection_of(info);
  std::vector<std::uint64_t> granule;
  for (std::size_t d = 0; d < selection.size(); ++d)
    if (!selection[d].dropped) granule.push_back(ceil_div(info.chunk_shape[d], selection[d].step));
  return granule;
}

std::uint64_t granule_outputs(const AxisShape& array, std::span<const std::uint64_t> granule) {
  return granule_extent(array, array.across, granule);
}

std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const BoxLimits& limits) {
  BoxGrowth box(array, granule, limits);
  box.bound_granule();
  box.lengthen_runs(ceil_div(limits.elements, limits.rows));
  box.add_rows();
  box.fill();
  return std::move(box).extents();
}

WorkTiling tile_boxes(const io::DatasetInfo& info, const WorkNeeds& needs, const WorkSizes& sizes,
                      int ranks) {
  const AxisShape array = needs.array ? *needs.array : all_rows(info.shape);
  const std::vector<std::uint64_t> granule = granule_of(info);
  const auto threads = static_cast<std::uint64_t>(sizes.threads);
  const std::uint64_t wanted_items = items_of_thread * threads * static_cast<std::uint64_t>(ranks);
  BoxLimits limits{sizes.item_elements,
                   needs.max_outputs.value_or(
                       std::max(min_outputs, max_output_bytes / threads / needs.output_bytes)),
                   wanted_rows};
  const std::uint64_t whole_chunks = granule_outputs(array, granule);
  if (needs.items == Items::parts_of_tiles &&
      whole_chunks * needs.output_bytes <= sizes.thread_memory)
    limits.outputs = std::max(limits.outputs, whole_chunks);
  const bool scans = needs.items == Items::tiles_of_threads || needs.items == Items::tiles_of_ranks;
  if (scans) {
    const std::uint64_t fair = ceil_div(array.outputs(), wanted_items);
    const std::uint64_t whole = needs.items == Items::tiles_of_ranks ? whole_chunks : 1;
    limits.outputs = std::min(limits.outputs, std::max({min_outputs, fair, whole}));
  }
  const AxisShape pools = pools_of(longest_run_of(array), granule, limits.outputs);
  if (needs.items == Items::parts_of_tiles)
    limits.elements =
        std::max(limits.elements, std::min(sizes.column_elements, column_elements(pools, granule)));
  std::vector<std::uint64_t> extents = choose_box_extents(pools, granule, limits);
  if (needs.items == Items::boxes) return WorkTiling({array.shape, std::move(extents)});
  if (needs.items == Items::parts_of_tiles) return {array, std::move(extents), wanted_items};
  if (needs.items != Items::tiles_of_threads) cut_for_ranks(array, ranks, extents);
  return {array, std::move(extents)};
}

}  // namespace warpfold::pipeline
