#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/engine/backend.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/regions/block_source.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// A rank's blocks, one behind another.
struct CompactJob {
  BlockSource& source;
  CompactEngine& engine;
  std::vector<ElementRange> blocks;
  int threads = 1;
};

/// What becomes of one block in a pass over all of them.
struct BlockPass {
  bool loads = true;  ///< or the engine holds the block already, or it is not wanted
  std::uint64_t pieces_to_store = 0;
};

/// What a pass does at each step; those but done() may throw Error.
struct CompactSteps {
  std::function<void(std::uint64_t block)> keep;  ///< of a loaded block, in order
  std::function<void(int worker, std::uint64_t block, std::uint64_t piece)> store;
  std::function<std::uint64_t()> done;  ///< bytes of the pass, here
};

/// The engine's place of block number `block`.
int engine_block(const CompactJob& job, std::uint64_t block);

/// Loads blocks, keeps and stores by all threads: a pass of which this rank has `share` bytes.
/// Collective; throws the same Error on every rank.
void pass_blocks(const CompactJob& job, const std::vector<BlockPass>& passes,
                 const CompactSteps& steps, std::uint64_t share, ProgressMonitor& monitor,
                 const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
