#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "core/layout/chunk_grid.hpp"

/// Small chunked datasets of 1 to 5 dimensions, and where their elements lie, element by element.
namespace warpfold::testing {

using Extents = std::vector<std::uint64_t>;

constexpr int random_grids = 300;

struct ChunkedShape {
  Extents shape;
  Extents chunk_shape;

  std::uint64_t elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t extent : shape) product *= extent;
    return product;
  }
};

/// Extents of 1, chunks that cover a dimension or reach beyond it, and all others.
inline ChunkedShape random_shape(std::mt19937_64& random) {
  ChunkedShape made;
  const auto dimensions = 1 + random() % 5;
  for (std::uint64_t d = 0; d < dimensions; ++d) {
    const std::uint64_t extent = 1 + random() % (dimensions < 3 ? 40 : 7);
    const std::uint64_t choices[] = {1, extent, 1 + random() % extent, 1 + random() % (extent + 3)};
    made.shape.push_back(extent);
    made.chunk_shape.push_back(choices[random() % 4]);
  }
  return made;
}

inline Extents coordinates_of(std::uint64_t index, const Extents& extents) {
  Extents coordinates(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) {
    coordinates[d] = index % extents[d];
    index /= extents[d];
  }
  return coordinates;
}

/// A chunk by number, and a place in it.
struct ChunkPlace {
  std::uint64_t chunk = 0;
  std::uint64_t place = 0;

  bool operator==(const ChunkPlace&) const = default;
};

inline ChunkPlace place_of(const Extents& coordinates, const Extents& shape,
                           const Extents& chunk_shape) {
  ChunkPlace found;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t along = (shape[d] + chunk_shape[d] - 1) / chunk_shape[d];
    found.chunk = found.chunk * along + coordinates[d] / chunk_shape[d];
    found.place = found.place * chunk_shape[d] + coordinates[d] % chunk_shape[d];
  }
  return found;
}

/// Returns the places of all elements, in flat order.
inline std::vector<ChunkPlace> places_of(const ChunkedShape& dataset) {
  std::vector<ChunkPlace> places;
  for (std::uint64_t index = 0; index < dataset.elements(); ++index)
    places.push_back(
        place_of(coordinates_of(index, dataset.shape), dataset.shape, dataset.chunk_shape));
  return places;
}

/// Whole dimensions, single indices, steps within chunks and beyond them.
inline Selection random_selection(const Extents& shape, std::mt19937_64& random) {
  Selection selection;
  for (const std::uint64_t extent : shape) {
    const std::uint64_t steps[] = {1, 1, 1 + random() % 3, 1 + random() % extent};
    Slice slice{random() % extent, 1, steps[random() % 4]};
    slice.count = 1 + random() % ((extent - slice.start - 1) / slice.step + 1);
    selection.push_back(random() % 3 == 0 ? Slice{0, extent} : slice);
  }
  return selection;
}

/// The flat indices of what is selected, in flat order.
inline std::vector<std::uint64_t> selected_indices(const Extents& shape,
                                                   const Selection& selection) {
  Extents counts;
  std::uint64_t elements = 1;
  for (const Slice& slice : selection) {
    counts.push_back(slice.count);
    elements *= slice.count;
  }
  std::vector<std::uint64_t> indices;
  for (std::uint64_t each = 0; each < elements; ++each) {
    const Extents coordinates = coordinates_of(each, counts);
    std::uint64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      index = index * shape[d] + selection[d].start + coordinates[d] * selection[d].step;
    indices.push_back(index);
  }
  return indices;
}

inline ChunkedShape unmerged(const ChunkGrid& grid) {
  return {{grid.extent, grid.extent + grid.dimensions},
          {grid.chunk_extent, grid.chunk_extent + grid.dimensions}};
}

}  // namespace warpfold::testing
