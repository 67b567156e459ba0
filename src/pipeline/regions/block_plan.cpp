#include "pipeline/regions/block_plan.hpp"

#include <algorithm>
#include <numeric>

#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "io/chunks/chunk_source.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t tile = scan_order::tile_elements;
constexpr std::uint64_t pieces_of_a_block = 16;

/// As many as a GPU takes to decompress a thousand chunks at once.
constexpr std::uint64_t pieces_of_a_compressed_block = 256;

/// A rank has so many, where the dataset has enough for them: then it reads and writes at once.
constexpr std::uint64_t min_supersteps = 4;

/// A block has so many rows of chunks, where they are not whole ones: of so many one is read twice.
constexpr std::uint64_t min_chunk_rows = 8;

/// Returns the bytes of a piece. On the cpu a piece is to stay in the cache between reading and
/// reducing.
std::uint64_t piece_bytes(const BlockResources& resources) {
  if (resources.slab_bytes != 0) return resources.slab_bytes;
  return resources.on_gpu ? std::uint64_t{4} << 20 : std::uint64_t{1} << 20;
}

/// Returns the largest block that chunks may cause.
std::uint64_t max_block_bytes(const BlockResources& resources) {
  return resources.on_gpu ? std::uint64_t{1} << 30 : std::uint64_t{256} << 20;
}

/// Selected elements of all chunks that hold one range of leading indices.
std::uint64_t chunk_row_elements(const ChunkGrid& grid) {
  std::uint64_t elements = std::min(grid.selected_along(0), grid.max_selected_of(0));
  for (int d = 1; d < grid.dimensions; ++d) elements *= grid.selected_along(d);
  return elements;
}

/// Tells whether all rows of chunks but the last hold as many selected elements.
bool has_equal_rows(const ChunkGrid& grid) {
  return grid.index_of(0, 0) % grid.chunk_extent[0] == 0 &&
         (!grid.selective || grid.chunk_extent[0] % grid.slice[0].step == 0);
}

/// Returns the elements of the least run of whole chunk rows and whole tiles; 0 where it is beyond
/// `maximum`.
std::uint64_t whole_chunk_rows(std::uint64_t row, std::uint64_t maximum) {
  const std::uint64_t tiles = tile / std::gcd(row, tile);
  return row <= maximum / tiles ? row * tiles : 0;
}

/// Makes blocks whole rows of chunks or many of them, of at most `maximum` elements.
void fit_to_chunks(BlockPlan& plan, const ChunkGrid& grid, std::uint64_t maximum) {
  const std::uint64_t row = chunk_row_elements(grid);
  const std::uint64_t whole = has_equal_rows(grid) ? whole_chunk_rows(row, maximum) : 0;
  if (whole != 0) {
    plan.granule = whole;
    plan.block_elements = std::min(round_up(plan.block_elements, whole), maximum - maximum % whole);
  } else {
    const std::uint64_t rows = row < maximum / min_chunk_rows ? row * min_chunk_rows : maximum;
    plan.block_elements = std::max(plan.block_elements, round_up(rows, tile));
  }
}

}  // namespace

BlockPlan BlockPlan::limited_to(std::uint64_t max_elements) const {
  BlockPlan plan = *this;
  if (block_elements <= max_elements) return plan;
  const std::uint64_t unit = granule <= max_elements ? granule : tile;
  plan.block_elements = max_elements - max_elements % unit;
  plan.piece_elements = std::min(piece_elements, plan.block_elements);
  return plan;
}

BlockPlan plan_blocks(const io::DatasetInfo& info, std::size_t element_bytes,
                      const BlockResources& resources) {
  const std::uint64_t share = std::max<std::uint64_t>(
      1, ceil_div(info.elements, static_cast<std::uint64_t>(resources.ranks)));
  BlockPlan plan;
  plan.granule = tile;
  plan.piece_elements =
      std::max<std::uint64_t>(1, piece_bytes(resources) / element_bytes / tile) * tile;
  const std::uint64_t pieces =
      resources.on_gpu && io::left_form(info) ? pieces_of_a_compressed_block : pieces_of_a_block;
  plan.block_elements = round_up(std::clamp(ceil_div(share, min_supersteps), plan.piece_elements,
                                            pieces * plan.piece_elements),
                                 tile);
  if (!info.chunk_shape.empty())
    fit_to_chunks(plan, io::grid_of(info),
                  max_block_bytes(resources) / element_bytes / tile * tile);
  return plan.limited_to(round_up(share, tile));
}

BlockPlan fit_to_output(BlockPlan plan, const ChunkRows& rows, std::uint64_t elements,
                        std::size_t element_bytes, std::uint64_t memory, int threads,
                        const BlockResources& resources) {
  const std::uint64_t share = ceil_div(elements, static_cast<std::uint64_t>(resources.ranks));
  const std::uint64_t for_threads =
      std::min({static_cast<std::uint64_t>(threads) * rows.chunk_elements(), share / min_supersteps,
                memory / element_bytes});
  const std::uint64_t wanted = std::max({plan.block_elements, rows.row_elements(), for_threads});
  const auto blocks =
      rows.blocks(std::min(wanted, max_block_bytes(resources) / element_bytes), plan.granule);
  if (blocks) plan.block_elements = blocks->max_places();
  return plan;
}

BlockPlan agree_on_blocks(const BlockPlan& wanted, std::uint64_t engine_elements,
                          const mpi::Communicator& communicator) {
  const std::vector<std::uint64_t> minimum =
      mpi::minimum({wanted.granule, wanted.block_elements, engine_elements}, communicator);
  BlockPlan plan = wanted;
  plan.granule = minimum[0];
  plan.block_elements = minimum[1];
  return plan.limited_to(minimum[2]);
}

std::vector<ElementRange> blocks_of(const Tiling& blocks, BlockOrder order, int ranks, int rank) {
  std::vector<ElementRange> mine;
  if (order == BlockOrder::in_turns) {
    const auto step = static_cast<std::uint64_t>(ranks);
    for (std::uint64_t turn = 0; turn < ceil_div(blocks.items(), step); ++turn)
      mine.push_back(blocks.range(turn * step + static_cast<std::uint64_t>(rank)));
  } else {
    const ElementRange share = share_of(blocks.items(), ranks, rank);
    for (std::uint64_t block = share.first; block < share.end(); ++block)
      mine.push_back(blocks.range(block));
  }
  return mine;
}

}  // namespace warpfold::pipeline
