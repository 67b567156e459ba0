#include "core/chunk_grid.hpp"

#include <algorithm>

namespace warpfold {
namespace {

/// Whether chunks of (before, extent) x (chunk_before, chunk_extent) elements hold the same places
/// as chunks of chunk_before * chunk_extent elements of one dimension.
bool merges(std::uint64_t before, std::uint64_t chunk_before, std::uint64_t extent,
            std::uint64_t chunk_extent) {
  if (extent == chunk_extent) return true;
  return chunk_before == 1 && (before == 1 || extent % chunk_extent == 0);
}

using Coordinates = std::uint64_t[most_dimensions];

void coordinates_of(const ChunkGrid& grid, std::uint64_t index, Coordinates& coordinates) {
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    coordinates[d] = index % grid.extent[d];
    index /= grid.extent[d];
  }
}

/// The least number of a chunk with elements from the one at `first` on, up to coordinate
/// `last_there` in dimension `from` and the end in those behind it; `first` and the end agree in
/// the dimensions before.
std::uint64_t least_chunk(const ChunkGrid& grid, const Coordinates& first, int from,
                          std::uint64_t last_there) {
  std::uint64_t number = 0;
  bool all_behind = false;
  for (int d = 0; d < grid.dimensions; ++d) {
    const std::uint64_t place = all_behind ? 0 : first[d] / grid.chunk_extent[d];
    number = number * grid.chunks_along(d) + place;
    const std::uint64_t last = d == from ? last_there : grid.extent[d] - 1;
    if (d >= from && first[d] < last) all_behind |= (first[d] + 1) / grid.chunk_extent[d] == place;
  }
  return number;
}

/// The same with the order of elements reversed: the greatest number of a chunk with elements up to
/// `last`, down to coordinate `first_there` in dimension `from`.
std::uint64_t greatest_chunk(const ChunkGrid& grid, const Coordinates& last, int from,
                             std::uint64_t first_there) {
  std::uint64_t number = 0;
  bool all_behind = false;
  for (int d = 0; d < grid.dimensions; ++d) {
    const std::uint64_t place =
        all_behind ? grid.chunks_along(d) - 1 : last[d] / grid.chunk_extent[d];
    number = number * grid.chunks_along(d) + place;
    const std::uint64_t first = d == from ? first_there : 0;
    if (d >= from && last[d] > first) all_behind |= (last[d] - 1) / grid.chunk_extent[d] == place;
  }
  return number;
}

}  // namespace

std::uint64_t ChunkGrid::chunk_elements() const {
  std::uint64_t elements = 1;
  for (int d = 0; d < dimensions; ++d) elements *= chunk_extent[d];
  return elements;
}

std::uint64_t ChunkGrid::chunks() const {
  std::uint64_t chunks = 1;
  for (int d = 0; d < dimensions; ++d) chunks *= chunks_along(d);
  return chunks;
}

ChunkGrid chunk_grid(std::span<const std::uint64_t> shape,
                     std::span<const std::uint64_t> chunk_shape) {
  ChunkGrid grid;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int last = grid.dimensions - 1;
    if (last >= 0 && merges(grid.extent[last], grid.chunk_extent[last], shape[d], chunk_shape[d])) {
      grid.extent[last] *= shape[d];
      grid.chunk_extent[last] *= chunk_shape[d];
      continue;
    }
    grid.extent[grid.dimensions] = shape[d];
    grid.chunk_extent[grid.dimensions] = chunk_shape[d];
    ++grid.dimensions;
  }
  return grid;
}

ChunkRun chunks_overlapping(const ChunkGrid& grid, ElementRange range) {
  if (range.count == 0) return {};
  Coordinates first;
  Coordinates last;
  coordinates_of(grid, range.first, first);
  coordinates_of(grid, range.end() - 1, last);
  int from = 0;
  while (from < grid.dimensions - 1 && first[from] == last[from]) ++from;
  const std::uint64_t least = least_chunk(grid, first, from, last[from]);
  return {least, greatest_chunk(grid, last, from, first[from]) + 1 - least};
}

BoxCut::BoxCut(const ChunkGrid& grid, std::uint64_t most_chunks)
    : grid_(grid), dimension_(grid.dimensions - 1) {
  if (grid.chunks() == 0) return;
  std::uint64_t behind = 1;
  while (dimension_ > 0 && grid.chunks_along(dimension_) <= most_chunks / behind) {
    behind *= grid.chunks_along(dimension_);
    --dimension_;
  }
  const std::uint64_t along = grid.chunks_along(dimension_);
  const std::uint64_t most_span = std::clamp<std::uint64_t>(most_chunks / behind, 1, along);
  span_ = ceil_div(along, ceil_div(along, most_span));
}

std::uint64_t BoxCut::boxes() const {
  std::uint64_t boxes = 1;
  for (int d = 0; d < dimension_; ++d) boxes *= grid_.chunks_along(d);
  return grid_.chunks() == 0 ? 0 : boxes * ceil_div(grid_.chunks_along(dimension_), span_);
}

ChunkRun BoxCut::run(std::uint64_t box) const {
  std::uint64_t behind = 1;
  for (int d = dimension_ + 1; d < grid_.dimensions; ++d) behind *= grid_.chunks_along(d);
  const std::uint64_t along = grid_.chunks_along(dimension_);
  const std::uint64_t boxes_along = ceil_div(along, span_);
  const std::uint64_t start = box % boxes_along * span_;
  return {(box / boxes_along * along + start) * behind, std::min(span_, along - start) * behind};
}

std::uint64_t BoxCut::most_elements() const {
  std::uint64_t elements = 1;
  for (int d = 0; d < grid_.dimensions; ++d) {
    std::uint64_t extent = grid_.extent[d];
    if (d == dimension_) extent = std::min(extent, span_ * grid_.chunk_extent[d]);
    if (d < dimension_) extent = std::min(extent, grid_.chunk_extent[d]);
    elements *= extent;
  }
  return elements;
}

}  // namespace warpfold
