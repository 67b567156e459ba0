#include "pipeline/regions/staging.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// Returns the chunks that a slab or a box has a part in, at most.
std::uint64_t chunks_of_box(const RegionSource& source, const WorkTiling& tiling) {
  return tiling.in_chunks() ? tiling.max_places() : source.chunks_of_box(tiling.box_extents());
}

/// Returns the chunks that an item has a part in, at most; 0 where none are read.
std::uint64_t chunks_of_item(const RegionSource& source, const WorkTiling& tiling) {
  return chunks_of_box(source, tiling) * ceil_div(tiling.max_boxes(), tiling.items_of_tile());
}

/// Returns what a GPU is to decompress, if anything.
CompressedChunks compressed_chunks(const WorkPlan& plan, RegionSource& source, const Run& run) {
  if (!run.place.gpu || plan.mine.count == 0) return {};
  const std::optional<ChunkRun> mine = plan.chunks();
  const std::uint64_t chunks =
      mine ? mine->count : plan.mine.count * chunks_of_item(source, plan.tiling);
  return source.compressed(chunks, chunks_of_box(source, plan.tiling),
                           static_cast<std::uint64_t>(run.place.threads));
}

}  // namespace

std::uint64_t staging_bytes(const WorkTiling& tiling, const RegionSource& source) {
  return tiling.in_chunks() ? source.bytes_of_chunks(tiling.max_places())
                            : source.bytes_of_box(tiling.box_extents());
}

StagingPlan staging_plan(const WorkPlan& plan, RegionSource& source, const Decoding& decoding,
                         Run& run) {
  return {.format = source.info().format,
          .decoding = decoding,
          .slab_elements = std::max<std::uint64_t>(1, plan.tiling.max_elements()),
          .staging_bytes = staging_bytes(plan.tiling, source),
          .staging = are_boxes(plan.items) ? Staging::chunks : source.staging(),
          .threads = std::max(1, plan.threads),
          .stages = &run.monitor.stages(),
          .compressed = compressed_chunks(plan, source, run),
          .slots_per_thread = plan.slots_per_thread()};
}

int under_way(const WorkPlan& plan, const RegionSource& source) {
  constexpr std::uint64_t chunks_under_way = 8192;
  // Threads go through parts of tiles in several rounds.
  constexpr std::uint64_t rounds = 2;
  const bool parts = plan.items == Items::parts_of_tiles;
  const std::uint64_t chunks =
      parts ? chunks_of_item(source, plan.tiling) : chunks_of_box(source, plan.tiling);
  const std::uint64_t most =
      parts ? plan.mine.count / rounds : plan.mine.count * plan.tiling.max_boxes();
  const auto threads = static_cast<std::uint64_t>(plan.slots());
  return static_cast<int>(std::clamp<std::uint64_t>(
      ceil_div(chunks_under_way, std::max<std::uint64_t>(1, chunks) * threads), 2,
      std::max<std::uint64_t>(2, most / threads)));
}

}  // namespace warpfold::pipeline
