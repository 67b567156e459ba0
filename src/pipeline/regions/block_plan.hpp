#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/layout/tiling.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/regions/chunk_rows.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// Resources of a scan or a compaction, as far as its blocks depend on them.
struct BlockResources {
  bool on_gpu = false;
  int ranks = 1;
  std::uint64_t slab_bytes = 0;  ///< as the user wants them, or 0
};

/// How a dataset is taken apart for a scan or a compaction: into blocks, these into pieces that
/// threads read and write. All are whole tiles of a scan.
struct BlockPlan {
  std::uint64_t piece_elements = 0;
  std::uint64_t block_elements = 0;
  std::uint64_t granule = 0;  ///< blocks of whole granules share no chunk, or it is a tile

  /// Returns the plan with blocks that hold no more than `max_elements`, at least a tile.
  BlockPlan limited_to(std::uint64_t max_elements) const;
};

/// Returns a plan with blocks large enough to be read and written in many pieces, and small enough
/// that each rank has several, of which some are read while others are written. Those of chunked
/// datasets are whole rows of chunks or many of them, so that few chunks are read for two blocks.
/// An element has at most `element_bytes` as it is read and as it is written.
BlockPlan plan_blocks(const io::DatasetInfo& info, std::size_t element_bytes,
                      const BlockResources& resources);

/// Returns the plan with blocks that are whole rows of an output's chunks: if memory allows, one
/// or more for each of `threads` threads. Where a row is too large, the plan stays as it is.
/// `memory`: bytes that the outputs of a block may take.
BlockPlan fit_to_output(BlockPlan plan, const ChunkRows& rows, std::uint64_t elements,
                        std::size_t element_bytes, std::uint64_t memory, int threads,
                        const BlockResources& resources);

/// Returns the plan that all ranks can follow: some engines hold less than is wanted, at most
/// `engine_elements` in a block. Collective.
BlockPlan agree_on_blocks(const BlockPlan& wanted, std::uint64_t engine_elements,
                          const mpi::Communicator& communicator);

/// How ranks share blocks: each has consecutive ones, or they take them in turns, which gives all
/// ranks equally many, the last ones maybe empty.
enum class BlockOrder { consecutive, in_turns };

/// Returns the elements of the blocks that rank `rank` of `ranks` has, in order.
std::vector<ElementRange> blocks_of(const Tiling& blocks, BlockOrder order, int ranks, int rank);

}  // namespace warpfold::pipeline
