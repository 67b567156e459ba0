#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/layout/chunk_grid.hpp"
#include "core/results/accumulator.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/regions/chunk_rows.hpp"
#include "pipeline/regions/work_tiling.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::pipeline {

/// Items that a dataset is taken apart into, and whose they are.
enum class Items : std::uint8_t {
  slabs,             ///< whole chunks where these are read one by one, otherwise ranges of elements
  blocks,            ///< ranges of elements, whole tiles of a scan; a rank's follow one another
  blocks_in_turns,   ///< the same, but ranks have equally many, the last ones maybe empty
  boxes,             ///< boxes that are read well
  parts_of_tiles,    ///< boxes of one tile, which threads and ranks may share
  tiles_of_threads,  ///< tiles, each one thread's: there are to be several for each
  tiles_of_ranks,    ///< tiles, whose boxes a rank's threads take in order: there is to be one for
                     ///< each rank, of whole granules if that many are there
  tiles_in_memory,   ///< the same, but threads share the elements of a tile once a rank has them
};

constexpr bool are_boxes(Items items) { return items >= Items::boxes; }

/// Needs of the work on a dataset that its plan depends on.
struct WorkNeeds {
  Items items = Items::slabs;
  std::size_t element_bytes = 0;        ///< bytes of an element in memory, if more than stored
  std::optional<AxisShape> array = {};  ///< array that has elements, for tiles
  std::uint64_t output_bytes = 1;       ///< bytes that a thread needs for each output of a tile
  std::optional<std::uint64_t> max_outputs = {};  ///< limit for a tile, in place of one by memory
};

/// Return the needs of a reduction along axes, of a scan of lines or of a whole dataset, and of a
/// compaction.
WorkNeeds needs_of_rows(const AxisShape& array, const ReduceNeeds& needs);
WorkNeeds needs_of_scan(const std::optional<AxisShape>& lines, ElementType output, bool gpu);
WorkNeeds needs_of_compaction(ElementType widest_output);

/// Means that one of several ranks works with.
struct Means {
  int threads = 1;  ///< as requested, or its share of the cores
  bool gpu = false;
  int ranks = 1;
  bool threads_are_asked_for = false;
  std::uint64_t slab_bytes = 0;     ///< as requested, or 0
  std::uint64_t thread_memory = 0;  ///< bytes that a thread may take for outputs of whole chunks
};

Means means_of(const Run& run);

/// Sizes of items, and how many are under way at once.
struct WorkSizes {
  std::uint64_t item_elements = 1;   ///< the most of a slab, a block, or a box in memory
  std::uint64_t granule = 1;         ///< items of whole granules share no chunk, or it is a tile
  std::uint64_t piece_elements = 0;  ///< a thread's of a block, to read or write at a time
  int threads = 1;
  int slots_per_thread = 1;
  std::uint64_t thread_memory = 0;    ///< as Means have it
  std::uint64_t column_elements = 0;  ///< the most of a box that whole chunks with few rows make up
};

/// Returns what one rank wants. What the options leave open is chosen so that slabs are large
/// against what each one costs, few enough threads share a path that doesn't gain by more, each
/// thread gets several slabs, and all slots together stay within a bound.
///
/// Blocks are large enough to be read and written in many pieces, and small enough that each rank
/// has several, of which some are read while others are written. Those of chunked datasets are
/// whole rows of chunks or many of them, so that few chunks are read for two blocks.
WorkSizes wanted_sizes(const io::DatasetInfo& info, const WorkNeeds& needs, const Means& means);

/// Returns blocks that are whole rows of the chunks of an output of `elements` elements: if memory
/// allows, one chunk or more for each thread. Where a row is too large, blocks stay as they are.
/// `memory`: bytes that a block's elements, of `element_bytes` each, may take.
WorkSizes fit_to_output(WorkSizes sizes, const ChunkRows& rows, std::uint64_t elements,
                        std::size_t element_bytes, std::uint64_t memory, const Means& means);

/// Returns blocks that hold no more than `max_elements`, at least a tile.
WorkSizes limited_to(WorkSizes sizes, std::uint64_t max_elements);

/// How ranks work through a dataset, and one rank's part of it.
struct WorkPlan {
  /// Shares the items of a tiling out: of ranks each has consecutive ones, or takes them in turns.
  WorkPlan(Items what, WorkSizes agreed, WorkTiling tiled, int ranks, int rank);

  /// Returns the number of this rank's i-th item; that of blocks in turns may be past the last.
  std::uint64_t item(std::uint64_t i) const { return mine.first + i * stride; }

  /// Gives this rank the slabs or blocks that have elements at some flat indices.
  void take_items_with(ElementRange indices);

  int slots_per_thread() const { return items == Items::slabs ? sizes.slots_per_thread : 1; }

  /// Returns the number of slots for its slabs or boxes: 1 or more.
  int slots() const { return std::max(1, threads * slots_per_thread()); }

  /// Returns the chunks, by position, that this rank's slabs are, if they are chunks.
  std::optional<ChunkRun> chunks() const;

  Items items;
  WorkSizes sizes;
  WorkTiling tiling;         ///< the same on every rank
  ElementRange mine;         ///< this rank's items: the first, and how many
  std::uint64_t stride = 1;  ///< distance of its items' numbers
  int threads = 1;           ///< threads of this rank that have work; 0 or more
};

/// Plans what a run with such means does with a dataset. Ranks agree on the least that any of them
/// wants. Collective.
WorkPlan plan_work(const io::DatasetInfo& info, const WorkNeeds& needs, const Means& means,
                   const mpi::Communicator& communicator);
WorkPlan plan_work(const io::DatasetInfo& info, const WorkNeeds& needs, const Run& run);

/// Returns a plan whose slabs or blocks are as small as engines need, which hold at most `held`
/// elements here; nothing where the plan's are on all ranks. Collective.
std::optional<WorkPlan> narrowed(const WorkPlan& plan, const io::DatasetInfo& info,
                                 std::uint64_t held, const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
