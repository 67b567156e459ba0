#include "pipeline/regions/axis_chunks.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {

std::uint64_t chunks_of_item(const RegionSource& source, const AxisTiling& tiling) {
  return source.chunks_of_box(tiling.box_extents()) *
         ceil_div(tiling.max_boxes(), tiling.items_of_tile());
}

CompressedChunks compressed_chunks(RegionSource& source, const AxisTiling& tiling,
                                   std::uint64_t items, const Run& run) {
  if (!run.place.gpu) return {};
  return source.compressed(items * chunks_of_item(source, tiling),
                           source.chunks_of_box(tiling.box_extents()),
                           static_cast<std::uint64_t>(run.place.threads));
}

int parts_under_way(std::uint64_t part_chunks, int threads, std::uint64_t most) {
  constexpr std::uint64_t chunks_under_way = 8192;
  const std::uint64_t wanted = ceil_div(chunks_under_way, std::max<std::uint64_t>(1, part_chunks) *
                                                              static_cast<std::uint64_t>(threads));
  return static_cast<int>(std::clamp<std::uint64_t>(wanted, 2, std::max<std::uint64_t>(2, most)));
}

}  // namespace warpfold::pipeline
