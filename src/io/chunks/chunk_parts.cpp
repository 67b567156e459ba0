#include "io/chunks/chunk_parts.hpp"

#include "core/layout/partition.hpp"
#include "io/dataset/dataset_parts.hpp"

namespace warpfold::io {

ChunkParts::ChunkParts(const DatasetInfo& info) : info_(info) {
  if (!info.parts) return;
  const auto chunks_along = [&](std::size_t d) {
    return ceil_div(info.stored_shape[d], info.chunk_shape[d]);
  };
  along_ = chunks_along(info.parts->dimension);
  for (std::size_t d = info.parts->dimension + 1; d < info.stored_shape.size(); ++d)
    inner_ *= chunks_along(d);
}

ChunkParts::Place ChunkParts::place_of(std::uint64_t number) const {
  if (!info_.parts) return {0, number};
  const DatasetParts& parts = *info_.parts;
  const std::uint64_t chunk_extent = info_.chunk_shape[parts.dimension];
  const std::uint64_t outer = number / inner_ / along_;
  const std::uint64_t along = number / inner_ % along_;
  const std::size_t part = part_at(parts, along * chunk_extent);
  const std::uint64_t part_along = ceil_div(parts.extent_of(parts.infos[part]), chunk_extent);
  const std::uint64_t part_first = parts.first[part] / chunk_extent;
  return {part, (outer * part_along + along - part_first) * inner_ + number % inner_};
}

const DatasetInfo& ChunkParts::part(std::size_t part) const {
  return info_.parts ? info_.parts->infos[part] : info_;
}

}  // namespace warpfold::io
