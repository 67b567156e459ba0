#include "pipeline/regions/axis_plan.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "pipeline/regions/slab_plan.hpp"

namespace warpfold::pipeline {
namespace {

/// What a rank's threads keep for outputs, all together.
constexpr std::uint64_t max_output_bytes = std::uint64_t{256} << 20;

/// Enough for what is kept of each output to cost little beside the elements themselves.
constexpr std::uint64_t wanted_rows = 32;

/// Runs of as many elements are read well wherever they lie.
constexpr std::uint64_t min_outputs = 1024;

/// Shares for each thread, so that all end at about the same time.
constexpr std::uint64_t shares_of_thread = 4;

std::uint64_t wanted_shares(const AxisResources& means) {
  return shares_of_thread * static_cast<std::uint64_t>(means.threads) *
         static_cast<std::uint64_t>(means.ranks);
}

AxisBoxLimits limits_of(const AxisResources& means) {
  const std::uint64_t thread_bytes = max_output_bytes / static_cast<std::uint64_t>(means.threads);
  return {means.slab_elements, std::max(min_outputs, thread_bytes / means.output_bytes),
          wanted_rows};
}

}  // namespace

AxisResources agree_on_axis_resources(const io::DatasetInfo& info, std::size_t element_bytes,
                                      std::uint64_t output_bytes, const Run& run) {
  const int ranks = run.communicator.size();
  const SlabPlan plan =
      plan_slabs(info, run.options, {run.place.threads, run.place.gpu.has_value()}, ranks);
  const std::uint64_t slab_bytes = plan.slab_elements * size_of(info.format.type);
  const std::vector<std::uint64_t> minimum =
      mpi::minimum({std::max<std::uint64_t>(1, slab_bytes / element_bytes),
                    static_cast<std::uint64_t>(plan.threads)},
                   run.communicator);
  return {minimum[0], output_bytes, static_cast<int>(minimum[1]), ranks};
}

AxisCut cut_for_axis_reduce(const AxisShape& array, std::span<const std::uint64_t> granule,
                            const AxisResources& means) {
  return {array, choose_box_extents(array, granule, limits_of(means))};
}

AxisCut cut_for_axis_scan(const AxisShape& array, std::span<const std::uint64_t> granule,
                          const AxisResources& means) {
  AxisBoxLimits limits = limits_of(means);
  const std::uint64_t fair = ceil_div(array.outputs(), wanted_shares(means));
  limits.outputs = std::min(limits.outputs, std::max(min_outputs, fair));
  return {array, choose_box_extents(array, granule, limits)};
}

AxisGroups::AxisGroups(const AxisCut& cut, const AxisResources& means)
    : tiles(cut.tiles()), boxes_of_tile(cut.boxes_of_tile()) {
  groups_of_tile = std::min(boxes_of_tile, ceil_div(wanted_shares(means), tiles));
}

ElementRange AxisGroups::boxes(std::uint64_t group) const {
  return partition(boxes_of_tile, 1, groups_of_tile, group % groups_of_tile);
}

ElementRange AxisGroups::share(int ranks, int rank) const {
  return partition(all(), 1, static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(rank));
}

}  // namespace warpfold::pipeline
