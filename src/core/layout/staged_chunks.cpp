#include "core/layout/staged_chunks.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace warpfold {
namespace {

/// The box of selected elements that a run of chunks forms.
struct Box {
  std::uint64_t first[max_dimensions];
  std::uint64_t extent[max_dimensions];
};

Box box_of(const ChunkGrid& grid, ChunkRun run) {
  Box box;
  std::uint64_t first = grid.number_at(run.first);
  std::uint64_t last = grid.number_at(run.end() - 1);
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    const std::uint64_t along = grid.chunks_along(d);
    box.first[d] = grid.selected_of(d, first % along).first;
    box.extent[d] = grid.selected_of(d, last % along).end() - box.first[d];
    first /= along;
    last /= along;
  }
  return box;
}

/// Adds the next dimension outwards of a box; one that continues the indices of the one before is
/// merged with it.
void add_outwards(BoxIndices& indices, std::uint64_t extent, std::uint64_t stride) {
  int& inner = indices.dimensions;
  if (inner > 0 && stride == indices.stride[inner - 1] * indices.extent[inner - 1]) {
    indices.extent[inner - 1] *= extent;
  } else if (extent > 1) {
    indices.extent[inner] = extent;
    indices.stride[inner] = stride;
    ++inner;
  }
}

BoxIndices outermost_first(BoxIndices indices) {
  std::reverse(indices.extent, indices.extent + indices.dimensions);
  std::reverse(indices.stride, indices.stride + indices.dimensions);
  if (indices.dimensions <= 1 && indices.stride[0] <= 1) indices.dimensions = 0;
  return indices;
}

}  // namespace

ChunkTarget box_target(const ChunkGrid& grid, ChunkRun run) {
  const Box box = box_of(grid, run);
  ChunkTarget target;
  target.elements = 1;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    target.stride[d] = target.elements;
    target.origin += box.first[d] * target.elements;
    target.elements *= box.extent[d];
  }
  return target;
}

BoxIndices box_indices(const ChunkGrid& grid, ChunkRun run) {
  const Box box = box_of(grid, run);
  BoxIndices indices;
  std::uint64_t stride = 1;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    indices.first += box.first[d] * stride;
    add_outwards(indices, box.extent[d], stride);
    stride *= grid.selected_along(d);
  }
  return outermost_first(indices);
}

BoxIndices box_indices(const Hyperslab& box, std::span<const std::uint64_t> stride,
                       std::span<const std::uint64_t> shape) {
  const std::vector<std::uint64_t> of_array = row_major_strides(shape);
  std::vector<std::size_t> inwards(shape.size());
  std::iota(inwards.begin(), inwards.end(), std::size_t{0});
  std::ranges::stable_sort(inwards, {}, [&](std::size_t d) { return stride[d]; });
  BoxIndices indices;
  for (const std::size_t d : inwards) {
    indices.first += box.start[d] * of_array[d];
    add_outwards(indices, box.count[d], of_array[d]);
  }
  return outermost_first(indices);
}

ChunkTarget flat_target(const ChunkGrid& grid, ElementRange range) {
  ChunkTarget target;
  std::uint64_t stride = 1;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    target.stride[d] = stride;
    stride *= grid.selected_along(d);
  }
  target.origin = range.first;
  target.elements = range.count;
  return target;
}

StagedChunks staged_run(const StagedChunk& run, ElementRange places, std::uint64_t first_index) {
  StagedChunks chunks;
  chunks.grid.dimensions = 1;
  chunks.grid.extent[0] = places.count;
  chunks.grid.chunk_extent[0] = std::max<std::uint64_t>(places.count, 1);
  // Origins count modulo 2^64.
  chunks.target = {{1}, std::uint64_t{0} - places.first, places.end()};
  chunks.chunks = {&run, 1};
  chunks.indices.first = first_index;
  return chunks;
}

std::optional<StagedRun> run_of(const StagedChunks& chunks) {
  const ChunkGrid& grid = chunks.grid;
  const bool flat = grid.dimensions == 1 && !grid.selective && chunks.target.stride[0] == 1;
  if (!flat || chunks.chunks.size() != 1) return std::nullopt;
  const StagedChunk& chunk = chunks.chunks.front();
  if (chunk.encoding != ChunkEncoding::plain || chunk.compressed_bytes != 0) return std::nullopt;
  const ElementRange held = grid.selected_of(0, chunk.number);
  const StagedRun run{chunk.source, held.first - chunks.target.origin, held.count};
  const bool within =
      run.elements <= chunks.target.elements && run.place <= chunks.target.elements - run.elements;
  return within ? std::optional(run) : std::nullopt;
}

}  // namespace warpfold
