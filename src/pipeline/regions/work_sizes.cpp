#include "pipeline/regions/work_plan.hpp"

#include <algorithm>
#include <numeric>

#include "core/layout/partition.hpp"
#include "core/results/axis_parts.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/machine/host_memory.hpp"
#include "io/chunks/chunk_source.hpp"
#include "pipeline/regions/region_reader.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t kibibyte = 1u << 10;
constexpr std::uint64_t mebibyte = 1u << 20;
constexpr std::uint64_t gibibyte = 1u << 30;

/// Stays in a core's own cache between being read and being reduced.
constexpr std::uint64_t host_slab_bytes = mebibyte;

/// Transfers to a GPU reach their full rate, and the first one starts early.
constexpr std::uint64_t gpu_slab_bytes = 8 * mebibyte;

/// The slots of several ranks on a host stay in its last cache between being filled and being
/// copied, and threads that decompress end at about the same time. (What is decompressed by the GPU
/// is larger there, and dearer slab by slab.)
constexpr std::uint64_t small_gpu_slab_bytes = 4 * mebibyte;

/// Selecting and converting in the library costs little beside such a transfer.
constexpr std::uint64_t library_slab_bytes = 16 * mebibyte;

/// The most of a box that has several chunks so that outputs get several rows at once.
constexpr std::uint64_t max_column_bytes = 32 * mebibyte;

/// The least that a slab is made smaller to so that all threads have work.
constexpr std::uint64_t shared_slab_bytes = 256 * kibibyte;
constexpr std::uint64_t slabs_per_thread = 4;

/// More threads gain nothing: copying to the GPU is the limit, or the library lets one in at a time
/// while others reduce.
constexpr int max_threads_to_gpu = 12;
constexpr int max_threads_that_finish_outputs = 16;
constexpr int max_threads_in_library = 4;

/// All slots of a rank have so much memory at most, unless the options ask for more.
constexpr std::uint64_t max_slot_bytes = 2 * gibibyte;

std::uint64_t element_bytes(const io::DatasetInfo& info) { return size_of(info.format.type); }

std::uint64_t elements_behind_first(const ChunkGrid& grid) {
  std::uint64_t elements = 1;
  for (int d = 1; d < grid.dimensions; ++d) elements *= grid.selected_along(d);
  return elements;
}

/// Bytes of the selected elements of all chunks that hold one range of leading indices; 0 for
/// storage without chunks.
std::uint64_t chunk_row_bytes(const io::DatasetInfo& info) {
  if (info.chunk_shape.empty()) return 0;
  const ChunkGrid grid = unmerged_grid(info.stored_shape, info.chunk_shape, io::selection_of(info));
  return grid.max_selected_of(0) * elements_behind_first(grid) * element_bytes(info);
}

int wanted_threads(const io::DatasetInfo& info, Items items, const Means& means) {
  if (info.path == ReadPath::library)
    return means.gpu ? 1 : std::min(means.threads, max_threads_in_library);
  if (!means.gpu || info.path != ReadPath::direct) return means.threads;
  return std::min(means.threads, items == Items::parts_of_tiles ? max_threads_that_finish_outputs
                                                                : max_threads_to_gpu);
}

std::uint64_t favoured_slab_bytes(const io::DatasetInfo& info, const Means& means) {
  if (info.path == ReadPath::library) return library_slab_bytes;
  if (!means.gpu) return host_slab_bytes;
  const bool brings_stored_bytes = info.path == ReadPath::direct || io::left_form(info);
  return means.ranks == 1 && brings_stored_bytes ? gpu_slab_bytes : small_gpu_slab_bytes;
}

/// Divides the dataset's bytes into slabs_per_thread slabs a thread.
std::uint64_t fair_slab_bytes(const io::DatasetInfo& info, const Means& means, int threads) {
  const auto all_threads =
      static_cast<std::uint64_t>(means.ranks) * static_cast<std::uint64_t>(threads);
  return info.elements * element_bytes(info) / (all_threads * slabs_per_thread);
}

std::uint64_t wanted_slab_bytes(const io::DatasetInfo& info, const Means& means, int threads) {
  return std::clamp(fair_slab_bytes(info, means, threads), shared_slab_bytes,
                    favoured_slab_bytes(info, means));
}

/// Returns the most bytes of a box of several chunks, which cores decode and reduce; 0 where boxes
/// are to be as large as slabs.
std::uint64_t column_bytes(const io::DatasetInfo& info, const Means& means, int threads) {
  if (means.gpu || means.slab_bytes > 0 || !reads_chunks(info)) return 0;
  return std::min({fair_slab_bytes(info, means, threads), max_column_bytes,
                   max_slot_bytes / static_cast<std::uint64_t>(threads)});
}

/// Whole chunk rows where that fits, so that the library undoes no chunk's filters twice.
std::uint64_t whole_chunk_rows(const io::DatasetInfo& info, std::uint64_t slab_bytes) {
  const std::uint64_t row = chunk_row_bytes(info);
  const bool fits = info.path == ReadPath::library && row > 0 && row <= slab_bytes;
  return fits ? slab_bytes - slab_bytes % row : slab_bytes;
}

/// Most threads whose slots of `slot_bytes` stay within the bound.
int max_threads_in_memory(int slots_per_thread, std::uint64_t slot_bytes) {
  const std::uint64_t of_thread = static_cast<std::uint64_t>(slots_per_thread) * slot_bytes;
  return static_cast<int>(std::max<std::uint64_t>(1, max_slot_bytes / of_thread));
}

/// Returns the bytes of a slab's slot, which holds a chunk at least where these are read one by
/// one.
std::uint64_t slot_bytes(const io::DatasetInfo& info, std::uint64_t slab_bytes) {
  const bool by_chunks = info.path != ReadPath::library && !info.chunk_shape.empty();
  return by_chunks ? std::max(slab_bytes, io::chunk_bytes_of(info)) : slab_bytes;
}

/// Boxes have as many bytes in memory as slabs.
WorkSizes wanted_slabs(const io::DatasetInfo& info, Items items, std::size_t widest,
                       const Means& means) {
  WorkSizes sizes;
  sizes.threads = means.threads_are_asked_for ? means.threads : wanted_threads(info, items, means);
  // On the host a slab is reduced as soon as it is read, by the same thread.
  sizes.slots_per_thread = means.gpu ? 2 : 1;
  const std::uint64_t wanted =
      means.slab_bytes > 0 ? means.slab_bytes : wanted_slab_bytes(info, means, sizes.threads);
  const std::uint64_t slab_bytes = whole_chunk_rows(info, wanted);
  sizes.item_elements = std::max<std::uint64_t>(1, slab_bytes / element_bytes(info));
  if (!means.threads_are_asked_for)
    sizes.threads = std::min(
        sizes.threads, max_threads_in_memory(sizes.slots_per_thread, slot_bytes(info, slab_bytes)));
  sizes.item_elements =
      std::max<std::uint64_t>(1, sizes.item_elements * element_bytes(info) / widest);
  sizes.column_elements = column_bytes(info, means, sizes.threads) / widest;
  return sizes;
}

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
std::uint64_t piece_bytes(const Means& means) {
  if (means.slab_bytes != 0) return means.slab_bytes;
  return means.gpu ? 4 * mebibyte : mebibyte;
}

/// Returns the largest block that chunks may cause.
std::uint64_t max_block_bytes(const Means& means) { return means.gpu ? gibibyte : 256 * mebibyte; }

/// Returns whether all rows of chunks but the last hold as many selected elements.
bool has_equal_rows(const ChunkGrid& grid) {
  return grid.index_of(0, 0) % grid.chunk_extent[0] == 0 &&
         (!grid.selective || grid.chunk_extent[0] % grid.slice[0].step == 0);
}

/// Returns the elements of the least run of whole chunk rows and whole tiles; 0 where it is beyond
/// `maximum`.
std::uint64_t whole_rows_and_tiles(std::uint64_t row, std::uint64_t maximum) {
  const std::uint64_t tiles = tile / std::gcd(row, tile);
  return row <= maximum / tiles ? row * tiles : 0;
}

/// Makes blocks whole rows of chunks or many of them, of at most `maximum` elements.
void fit_to_chunks(WorkSizes& sizes, const ChunkGrid& grid, std::uint64_t maximum) {
  const std::uint64_t row =
      std::min(grid.selected_along(0), grid.max_selected_of(0)) * elements_behind_first(grid);
  const std::uint64_t whole = has_equal_rows(grid) ? whole_rows_and_tiles(row, maximum) : 0;
  if (whole != 0) {
    sizes.granule = whole;
    sizes.item_elements = std::min(round_up(sizes.item_elements, whole), maximum - maximum % whole);
  } else {
    const std::uint64_t rows = row < maximum / min_chunk_rows ? row * min_chunk_rows : maximum;
    sizes.item_elements = std::max(sizes.item_elements, round_up(rows, tile));
  }
}

WorkSizes wanted_blocks(const io::DatasetInfo& info, std::size_t widest, const Means& means) {
  const std::uint64_t share =
      std::max<std::uint64_t>(1, ceil_div(info.elements, static_cast<std::uint64_t>(means.ranks)));
  WorkSizes sizes;
  sizes.threads = means.threads;
  sizes.granule = tile;
  sizes.piece_elements = std::max<std::uint64_t>(1, piece_bytes(means) / widest / tile) * tile;
  const std::uint64_t pieces =
      means.gpu && io::left_form(info) ? pieces_of_a_compressed_block : pieces_of_a_block;
  sizes.item_elements = round_up(std::clamp(ceil_div(share, min_supersteps), sizes.piece_elements,
                                            pieces * sizes.piece_elements),
                                 tile);
  if (!info.chunk_shape.empty())
    fit_to_chunks(sizes, io::grid_of(info), max_block_bytes(means) / widest / tile * tile);
  return limited_to(sizes, round_up(share, tile));
}

/// Returns the bytes of what is needed of an output while it is reduced, handed over, and combined.
std::uint64_t reduced_output_bytes(const ReduceNeeds& needs) {
  constexpr std::uint64_t copies = 3;
  std::uint64_t bytes = sizeof(AxisCounts) + sizeof(std::uint64_t);
  for (const bool sum : {needs.sum, needs.absolute, needs.squares})
    if (sum) bytes += sizeof(Expansion);
  if (needs.extrema) bytes += 2 * sizeof(Extremum);
  return copies * bytes;
}

/// Memory that an engine's thread needs for a line: an exact sum and its state.
constexpr std::uint64_t line_bytes = 96;

}  // namespace

WorkNeeds needs_of_rows(const AxisShape& array, const ReduceNeeds& needs) {
  return {
      .items = Items::parts_of_tiles, .array = array, .output_bytes = reduced_output_bytes(needs)};
}

WorkNeeds needs_of_scan(const std::optional<AxisShape>& lines, ElementType output, bool gpu) {
  if (!lines) return {.items = Items::blocks_in_turns, .element_bytes = size_of(output)};
  return {.items = gpu ? Items::tiles_of_threads : Items::tiles_of_ranks,
          .element_bytes = size_of(output),
          .array = lines,
          .output_bytes = line_bytes};
}

WorkNeeds needs_of_compaction(ElementType widest_output) {
  return {.items = Items::blocks, .element_bytes = size_of(widest_output)};
}

Means means_of(const Run& run) {
  constexpr std::uint64_t host_divisor = 16;
  constexpr std::uint64_t device_divisor = 4;
  constexpr std::uint64_t least_device_bytes = 16 * gibibyte;
  Means means{run.place.threads, run.place.gpu.has_value(), run.communicator.size(),
              run.options.threads > 0, run.options.slab_bytes};
  const std::uint64_t memory =
      means.gpu ? run.options.device_memory_bytes.value_or(least_device_bytes) / device_divisor
                : cpu::memory_of_threads(host_divisor, means.threads);
  means.thread_memory = memory / static_cast<std::uint64_t>(means.threads);
  return means;
}

WorkSizes wanted_sizes(const io::DatasetInfo& info, const WorkNeeds& needs, const Means& means) {
  const std::size_t widest = std::max(size_of(info.format.type), needs.element_bytes);
  const bool blocks = needs.items == Items::blocks || needs.items == Items::blocks_in_turns;
  return blocks ? wanted_blocks(info, widest, means)
                : wanted_slabs(info, needs.items, widest, means);
}

WorkSizes fit_to_output(WorkSizes sizes, const ChunkRows& rows, std::uint64_t elements,
                        std::size_t element_bytes, std::uint64_t memory, const Means& means) {
  const std::uint64_t share = ceil_div(elements, static_cast<std::uint64_t>(means.ranks));
  const std::uint64_t for_threads =
      std::min({static_cast<std::uint64_t>(sizes.threads) * rows.chunk_elements(),
                share / min_supersteps, memory / element_bytes});
  const std::uint64_t wanted = std::max({sizes.item_elements, rows.row_elements(), for_threads});
  const auto blocks =
      rows.blocks(std::min(wanted, max_block_bytes(means) / element_bytes), sizes.granule);
  if (blocks) sizes.item_elements = blocks->max_places();
  return sizes;
}

WorkSizes limited_to(WorkSizes sizes, std::uint64_t max_elements) {
  if (sizes.item_elements <= max_elements) return sizes;
  const std::uint64_t unit = sizes.granule <= max_elements ? sizes.granule : tile;
  sizes.item_elements = max_elements - max_elements % unit;
  sizes.piece_elements = std::min(sizes.piece_elements, sizes.item_elements);
  return sizes;
}

}  // namespace warpfold::pipeline
