#include "core/layout/tiling.hpp"

#include <algorithm>
#include <utility>

#include "core/layout/partition.hpp"

namespace warpfold {

Tiling::Tiling(std::vector<std::uint64_t> shape, std::vector<std::uint64_t> extents)
    : shape_(std::move(shape)), extents_(std::move(extents)) {}

std::uint64_t Tiling::items() const {
  std::uint64_t items = 1;
  for (std::size_t d = 0; d < shape_.size(); ++d) items *= ceil_div(shape_[d], extents_[d]);
  return items;
}

std::uint64_t Tiling::max_places() const {
  std::uint64_t places = 1;
  for (std::size_t d = 0; d < shape_.size(); ++d) places *= std::min(shape_[d], extents_[d]);
  return places;
}

Hyperslab Tiling::region(std::uint64_t item) const {
  Hyperslab region{shape_, shape_};
  for (std::size_t d = shape_.size(); d-- > 0;) {
    const std::uint64_t along = ceil_div(shape_[d], extents_[d]);
    const ElementRange range = block_range(shape_[d], extents_[d], item % along);
    region.start[d] = range.first;
    region.count[d] = range.count;
    item /= along;
  }
  return region;
}

ElementRange Tiling::range(ElementRange items) const {
  if (items.count == 0 || items.first >= this->items()) return {product(shape_), 0};
  const Hyperslab first = region(items.first);
  const Hyperslab last = region(items.end() - 1);
  const std::uint64_t start = flat_index(first.start, shape_);
  return {start, flat_index(last.start, shape_) + last.elements() - start};
}

ElementRange share_of(std::uint64_t items, int ranks, int rank) {
  return partition(items, 1, static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(rank));
}

Tiling tile_chunks(const ChunkGrid& grid, std::uint64_t max_chunks) {
  std::vector<std::uint64_t> shape;
  for (int d = 0; d < grid.dimensions; ++d) shape.push_back(grid.counting_along(d));
  std::vector<std::uint64_t> extents(shape.size(), 1);
  if (grid.chunks() == 0) return {shape, extents};
  // An item spans several chunks along one dimension, and all along those behind it.
  std::size_t d = shape.size() - 1;
  for (; d > 0 && shape[d] <= max_chunks; --d) {
    extents[d] = shape[d];
    max_chunks /= shape[d];
  }
  extents[d] = ceil_div(shape[d], ceil_div(shape[d], std::min(max_chunks, shape[d])));
  return {shape, extents};
}

ChunkRun chunks_of(const Tiling& chunks, ElementRange items) {
  const ElementRange range = chunks.range(items);
  return {range.first, range.count};
}

std::uint64_t max_elements_of(const Tiling& chunks, const ChunkGrid& grid) {
  std::uint64_t elements = 1;
  for (int d = 0; d < grid.dimensions; ++d)
    elements *= std::min(grid.selected_along(d),
                         chunks.extents()[static_cast<std::size_t>(d)] * grid.max_selected_of(d));
  return elements;
}

}  // namespace warpfold
