#include "pipeline/regions/chunk_elements.hpp"

#include <algorithm>

namespace warpfold::pipeline {
namespace {

/// The part of a chunk within its dataset.
struct ChunkBox {
  std::uint64_t origin[max_dimensions] = {};
  std::uint64_t extent[max_dimensions] = {};
  std::uint64_t elements = 1;
};

ChunkBox box_of(const ChunkGrid& grid, std::uint64_t number) {
  ChunkBox box;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    box.origin[d] = number % grid.chunks_along(d) * grid.chunk_extent[d];
    box.extent[d] = std::min(grid.chunk_extent[d], grid.extent[d] - box.origin[d]);
    box.elements *= box.extent[d];
    number /= grid.chunks_along(d);
  }
  return box;
}

/// Place of a row's first element: in the dataset and in the chunk.
struct RowStart {
  std::uint64_t index = 0;
  std::uint64_t place = 0;
};

RowStart start_of_row(const ChunkGrid& grid, const ChunkBox& box, std::uint64_t row) {
  const int last = grid.dimensions - 1;
  RowStart start{box.origin[last], 0};
  std::uint64_t index_stride = grid.extent[last];
  std::uint64_t place_stride = grid.chunk_extent[last];
  for (int d = last - 1; d >= 0; --d) {
    const std::uint64_t coordinate = row % box.extent[d];
    start.index += (box.origin[d] + coordinate) * index_stride;
    start.place += coordinate * place_stride;
    index_stride *= grid.extent[d];
    place_stride *= grid.chunk_extent[d];
    row /= box.extent[d];
  }
  return start;
}

}  // namespace

void fill_chunk(const ChunkGrid& grid, std::uint64_t number, std::size_t element_bytes,
                const ElementSource& source, std::span<std::byte> chunk) {
  const ChunkBox box = box_of(grid, number);
  if (box.elements < grid.chunk_elements()) std::fill(chunk.begin(), chunk.end(), std::byte{0});
  const std::uint64_t row_elements = box.extent[grid.dimensions - 1];
  for (std::uint64_t row = 0; row < box.elements / row_elements; ++row) {
    const RowStart start = start_of_row(grid, box, row);
    source({start.index, row_elements},
           chunk.subspan(start.place * element_bytes, row_elements * element_bytes));
  }
}

}  // namespace warpfold::pipeline
