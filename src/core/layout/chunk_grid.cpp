#include "core/layout/chunk_grid.hpp"

#include <algorithm>

namespace warpfold {
namespace {

/// Returns whether chunks of (before, extent) x (chunk_before, chunk_extent) elements hold the same
/// places as chunks of chunk_before * chunk_extent elements of one dimension.
bool merges(std::uint64_t before, std::uint64_t chunk_before, std::uint64_t extent,
            std::uint64_t chunk_extent) {
  if (extent == chunk_extent) return true;
  return chunk_before == 1 && (before == 1 || extent % chunk_extent == 0);
}

/// The slice that describes what `outer` and `inner` select of two dimensions in row-major order as
/// one, of which the inner has `extent` elements; none where no slice does.
std::optional<Slice> composed(const Slice& outer, const Slice& inner, std::uint64_t extent) {
  const std::uint64_t start = outer.start * extent + inner.start;
  if (outer.count == 1) return Slice{start, inner.count, inner.step};
  if (inner.count == extent && outer.step == 1) return Slice{start, outer.count * extent, 1};
  return std::nullopt;
}

bool is_selective(const ChunkGrid& grid) {
  for (int d = 0; d < grid.dimensions; ++d)
    if (grid.slice[d].count != grid.extent[d]) return true;
  return false;
}

using Coordinates = std::uint64_t[max_dimensions];

void coordinates_of(const ChunkGrid& grid, std::uint64_t index, Coordinates& coordinates) {
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    coordinates[d] = index % grid.selected_along(d);
    index /= grid.selected_along(d);
  }
}

/// The least position of a chunk with elements from the one at `first` on, up to coordinate
/// `last_there` in dimension `from` and the end in those behind it; `first` and the end agree in
/// the dimensions before.
std::uint64_t min_chunk(const ChunkGrid& grid, const Coordinates& first, int from,
                        std::uint64_t last_there) {
  std::uint64_t position = 0;
  bool all_behind = false;
  for (int d = 0; d < grid.dimensions; ++d) {
    const std::uint64_t place = all_behind ? 0 : grid.place_along(d, first[d]);
    position = position * grid.counting_along(d) + place;
    const std::uint64_t last = d == from ? last_there : grid.selected_along(d) - 1;
    if (d >= from && first[d] < last) all_behind |= grid.place_along(d, first[d] + 1) == place;
  }
  return position;
}

/// The same with the order of elements reversed: the greatest position of a chunk with elements up
/// to `last`, down to coordinate `first_there` in dimension `from`.
std::uint64_t greatest_chunk(const ChunkGrid& grid, const Coordinates& last, int from,
                             std::uint64_t first_there) {
  std::uint64_t position = 0;
  bool all_behind = false;
  for (int d = 0; d < grid.dimensions; ++d) {
    const std::uint64_t place =
        all_behind ? grid.counting_along(d) - 1 : grid.place_along(d, last[d]);
    position = position * grid.counting_along(d) + place;
    const std::uint64_t first = d == from ? first_there : 0;
    if (d >= from && last[d] > first) all_behind |= grid.place_along(d, last[d] - 1) == place;
  }
  return position;
}

}  // namespace

std::uint64_t ChunkGrid::chunk_elements() const {
  std::uint64_t elements = 1;
  for (int d = 0; d < dimensions; ++d) elements *= chunk_extent[d];
  return elements;
}

std::uint64_t ChunkGrid::counting_along(int d) const {
  if (!selective) return chunks_along(d);
  return slice[d].count == 0 ? 0 : place_along(d, slice[d].count - 1) + 1;
}

std::uint64_t ChunkGrid::place_along(int d, std::uint64_t selected) const {
  if (!selective) return selected / chunk_extent[d];
  // Steps beyond a chunk's extent leave out chunks, all others none.
  if (slice[d].step > chunk_extent[d]) return selected;
  return index_of(d, selected) / chunk_extent[d] - slice[d].start / chunk_extent[d];
}

std::uint64_t ChunkGrid::chunks() const {
  std::uint64_t chunks = 1;
  for (int d = 0; d < dimensions; ++d) chunks *= counting_along(d);
  return chunks;
}

std::uint64_t ChunkGrid::number_at(std::uint64_t position) const {
  if (!selective) return position;
  std::uint64_t number = 0;
  std::uint64_t behind = 1;
  for (int d = dimensions - 1; d >= 0; --d) {
    const std::uint64_t place = position % counting_along(d);
    position /= counting_along(d);
    const bool spread = slice[d].step > chunk_extent[d];
    number += behind * (spread ? index_of(d, place) / chunk_extent[d]
                               : slice[d].start / chunk_extent[d] + place);
    behind *= chunks_along(d);
  }
  return number;
}

std::optional<std::uint64_t> ChunkGrid::position_of(std::uint64_t number) const {
  if (!selective) return number;
  std::uint64_t position = 0;
  std::uint64_t behind = 1;
  for (int d = dimensions - 1; d >= 0; --d) {
    const ElementRange selected = selected_of(d, number % chunks_along(d));
    if (selected.count == 0) return std::nullopt;
    number /= chunks_along(d);
    position += behind * place_along(d, selected.first);
    behind *= counting_along(d);
  }
  return position;
}

ChunkGrid chunk_grid(std::span<const std::uint64_t> shape,
                     std::span<const std::uint64_t> chunk_shape, const Selection& selection) {
  ChunkGrid grid;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Slice slice = selection.empty() ? Slice{0, shape[d]} : selection[d];
    const int last = grid.dimensions - 1;
    if (last >= 0 && merges(grid.extent[last], grid.chunk_extent[last], shape[d], chunk_shape[d])) {
      if (const auto both = composed(grid.slice[last], slice, shape[d])) {
        grid.extent[last] *= shape[d];
        grid.chunk_extent[last] *= chunk_shape[d];
        grid.slice[last] = *both;
        continue;
      }
    }
    grid.extent[grid.dimensions] = shape[d];
    grid.chunk_extent[grid.dimensions] = chunk_shape[d];
    grid.slice[grid.dimensions] = slice;
    ++grid.dimensions;
  }
  grid.selective = is_selective(grid);
  return grid;
}

ChunkGrid unmerged_grid(std::span<const std::uint64_t> shape,
                        std::span<const std::uint64_t> chunk_shape, const Selection& selection) {
  ChunkGrid grid;
  grid.dimensions = static_cast<int>(shape.size());
  std::ranges::copy(shape, grid.extent);
  std::ranges::copy(chunk_shape, grid.chunk_extent);
  std::ranges::copy(selection, grid.slice);
  grid.selective = is_selective(grid);
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
  const std::uint64_t minimum = min_chunk(grid, first, from, last[from]);
  return {minimum, greatest_chunk(grid, last, from, first[from]) + 1 - minimum};
}

std::uint64_t max_chunks_overlapping(const ChunkGrid& grid, std::uint64_t elements) {
  const std::uint64_t chunks = grid.chunks();
  if (elements == 0 || chunks == 0) return 0;
  // Between the first and the last row of chunks, which may be cut, each holds so many at least.
  std::uint64_t row = std::max<std::uint64_t>(1, grid.chunk_extent[0] / grid.step_along(0));
  for (int d = 1; d < grid.dimensions; ++d) row *= grid.selected_along(d);
  const std::uint64_t rows = ceil_div(elements, row) + 2;
  return std::min(rows * (chunks / grid.counting_along(0)), chunks);
}

}  // namespace warpfold
