#include "pipeline/regions/scan_cut.hpp"

#include <algorithm>
#include <numeric>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t tile = scan_tile_elements;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

constexpr std::uint64_t pieces_of_a_block = 16;

/// Of a rank, where the dataset has enough for them: then it reads and writes at once.
constexpr std::uint64_t min_supersteps = 4;

/// Of chunks, in a block, where they are not whole ones: of so many one is read twice.
constexpr std::uint64_t min_chunk_rows = 8;

/// Where a piece is chosen: on the cpu it is to stay in the cache between reading and reducing.
std::uint64_t piece_bytes(const ScanPlacement& place) {
  if (place.slab_bytes != 0) return place.slab_bytes;
  return place.on_gpu ? 4 * mebibyte : mebibyte;
}

/// What a block may grow to for the sake of chunks.
std::uint64_t max_block_bytes(const ScanPlacement& place) {
  return place.on_gpu ? 1024 * mebibyte : 256 * mebibyte;
}

/// Selected elements of all chunks that hold one range of leading indices.
std::uint64_t chunk_row_elements(const ChunkGrid& grid) {
  std::uint64_t elements = std::min(grid.selected_along(0), grid.max_selected_of(0));
  for (int d = 1; d < grid.dimensions; ++d) elements *= grid.selected_along(d);
  return elements;
}

/// Whether all rows of chunks but the last hold as many selected elements.
bool has_equal_rows(const ChunkGrid& grid) {
  return grid.index_of(0, 0) % grid.chunk_extent[0] == 0 &&
         (!grid.selective || grid.chunk_extent[0] % grid.slice[0].step == 0);
}

/// Elements of the least run of whole chunk rows and whole tiles; 0 where it is beyond `most`.
std::uint64_t whole_chunk_rows(std::uint64_t row, std::uint64_t maximum) {
  const std::uint64_t tiles = tile / std::gcd(row, tile);
  return row <= maximum / tiles ? row * tiles : 0;
}

/// The cut for blocks of about `wanted` elements, whole tiles.
void fit_to_chunks(ScanCut& cut, const ChunkGrid& grid, std::uint64_t maximum) {
  const std::uint64_t row = chunk_row_elements(grid);
  const std::uint64_t whole = has_equal_rows(grid) ? whole_chunk_rows(row, maximum) : 0;
  if (whole != 0) {
    cut.granule = whole;
    cut.block_elements = std::min(round_up(cut.block_elements, whole), maximum - maximum % whole);
  } else {
    const std::uint64_t rows = row < maximum / min_chunk_rows ? row * min_chunk_rows : maximum;
    cut.block_elements = std::max(cut.block_elements, round_up(rows, tile));
  }
}

}  // namespace

ScanCut ScanCut::limited_to(std::uint64_t max_elements) const {
  ScanCut cut = *this;
  if (block_elements <= max_elements) return cut;
  const std::uint64_t unit = granule <= max_elements ? granule : tile;
  cut.block_elements = max_elements - max_elements % unit;
  cut.piece_elements = std::min(piece_elements, cut.block_elements);
  return cut;
}

ScanCut cut_for_scan(const io::DatasetInfo& info, const ScanSpec& spec,
                     const ScanPlacement& place) {
  const std::size_t widest = std::max(size_of(spec.input.type), size_of(spec.output));
  const std::uint64_t share =
      std::max<std::uint64_t>(1, ceil_div(info.elements, static_cast<std::uint64_t>(place.ranks)));
  ScanCut cut;
  cut.granule = tile;
  cut.piece_elements = std::max<std::uint64_t>(1, piece_bytes(place) / widest / tile) * tile;
  cut.block_elements = round_up(std::clamp(ceil_div(share, min_supersteps), cut.piece_elements,
                                           pieces_of_a_block * cut.piece_elements),
                                tile);
  if (!info.chunk_shape.empty())
    fit_to_chunks(cut, io::grid_of(info), max_block_bytes(place) / widest / tile * tile);
  return cut.limited_to(round_up(share, tile));
}

ScanCut agree_on_cut(const ScanCut& wanted, std::uint64_t engine_elements,
                     const mpi::Communicator& communicator) {
  const std::vector<std::uint64_t> minimum =
      mpi::minimum({wanted.granule, wanted.block_elements, engine_elements}, communicator);
  ScanCut cut = wanted;
  cut.granule = minimum[0];
  cut.block_elements = minimum[1];
  return cut.limited_to(minimum[2]);
}

std::uint64_t BlockNumbers::supersteps() const {
  return ceil_div(ceil_div(elements, block_elements), ranks);
}

ElementRange BlockNumbers::range(std::uint64_t superstep) const {
  return block_range(elements, block_elements, superstep * ranks + rank);
}

std::uint64_t BlockNumbers::rank_of_last() const {
  return (ceil_div(elements, block_elements) - 1) % ranks;
}

}  // namespace warpfold::pipeline
