#include "pipeline/regions/work_plan.hpp"

#include <utility>

#include "core/layout/partition.hpp"
#include "pipeline/regions/box_tiling.hpp"
#include "pipeline/regions/region_reader.hpp"

namespace warpfold::pipeline {
namespace {

/// Takes a dataset apart into slabs or blocks.
WorkTiling tile_ranges(const io::DatasetInfo& info, Items items, std::uint64_t elements) {
  if (items != Items::slabs || !reads_chunks(info))
    return WorkTiling({info.elements, std::clamp<std::uint64_t>(info.elements, 1, elements)});
  const ChunkGrid grid = io::grid_of(info);
  const std::uint64_t chunks = elements / grid.chunk_elements();
  return WorkTiling(tile_chunks(grid, std::max<std::uint64_t>(1, chunks)), grid);
}

/// Returns how many threads have work where a rank has `mine` items.
int busy_threads(Items items, const WorkTiling& tiling, std::uint64_t mine, int threads) {
  if (items == Items::blocks || items == Items::blocks_in_turns || items == Items::tiles_in_memory)
    return threads;
  const std::uint64_t parts = items == Items::tiles_of_ranks ? mine * tiling.max_boxes() : mine;
  return static_cast<int>(std::min(static_cast<std::uint64_t>(threads), parts));
}

}  // namespace

WorkPlan::WorkPlan(Items what, WorkSizes agreed, WorkTiling tiled, int ranks, int rank)
    : items(what), sizes(agreed), tiling(std::move(tiled)) {
  if (items == Items::blocks_in_turns) {
    stride = static_cast<std::uint64_t>(ranks);
    mine = {static_cast<std::uint64_t>(rank), ceil_div(tiling.items(), stride)};
  } else {
    mine = share_of(tiling.items(), ranks, rank);
  }
  threads = busy_threads(items, tiling, mine.count, sizes.threads);
}

void WorkPlan::take_items_with(ElementRange indices) {
  mine = tiling.items_with(indices);
  threads = busy_threads(items, tiling, mine.count, sizes.threads);
}

std::optional<ChunkRun> WorkPlan::chunks() const {
  if (!tiling.in_chunks()) return std::nullopt;
  const ElementRange positions = tiling.range(mine);
  return ChunkRun{positions.first, positions.count};
}

WorkPlan plan_work(const io::DatasetInfo& info, const WorkNeeds& needs, const Means& means,
                   const mpi::Communicator& communicator) {
  const bool boxes = are_boxes(needs.items);
  WorkSizes sizes = wanted_sizes(info, needs, means);
  const std::vector<std::uint64_t> least =
      mpi::minimum({sizes.item_elements, sizes.granule, static_cast<std::uint64_t>(sizes.threads),
                    means.thread_memory, sizes.column_elements},
                   communicator);
  sizes.item_elements = least[0];
  sizes.granule = least[1];
  if (boxes) sizes.threads = static_cast<int>(least[2]);
  sizes.thread_memory = least[3];
  sizes.column_elements = least[4];
  return {needs.items, sizes,
          boxes ? tile_boxes(info, needs, sizes, communicator.size())
                : tile_ranges(info, needs.items, sizes.item_elements),
          communicator.size(), communicator.rank()};
}

WorkPlan plan_work(const io::DatasetInfo& info, const WorkNeeds& needs, const Run& run) {
  return plan_work(info, needs, means_of(run), run.communicator);
}

std::optional<WorkPlan> narrowed(const WorkPlan& plan, const io::DatasetInfo& info,
                                 std::uint64_t held, const mpi::Communicator& communicator) {
  const std::uint64_t least = mpi::minimum({held}, communicator).front();
  if (plan.tiling.max_elements() <= least) return std::nullopt;
  const WorkSizes sizes = limited_to(plan.sizes, least);
  return WorkPlan(plan.items, sizes, tile_ranges(info, plan.items, sizes.item_elements),
                  communicator.size(), communicator.rank());
}

}  // namespace warpfold::pipeline
