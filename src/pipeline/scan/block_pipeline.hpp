#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/engine/block_engines.hpp"
#include "core/layout/tiling.hpp"
#include "cpu/machine/machine.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/block_source.hpp"
#include "pipeline/regions/chunk_rows.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/block_flow.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// The chunks of a scan's output, at whose rows blocks are to end.
struct OutputRows {
  ChunkRows rows;
  std::uint64_t zeros = 0;  ///< outputs before the first prefix, which are 0
};

/// A rank's blocks, which its engine holds a few at a time.
struct BlockJob {
  /// Makes the engine for blocks as planned. Throws Error.
  using MakeEngine =
      std::function<std::unique_ptr<BlockEngine>(Backend& backend, const BlockEnginePlan& plan)>;

  /// Takes a view apart into blocks that every rank's engine can hold; of whole rows of the chunks
  /// of `output`, which may be null, if a row fits. Collective; throws the same Error on every
  /// rank.
  BlockJob(DatasetView& view, const WorkNeeds& needs, const MakeEngine& make, Run& run,
           const OutputRows* output = nullptr);

  /// Returns where the engine has block number `block`.
  int place(std::uint64_t block) const {
    return static_cast<int>(block % static_cast<std::uint64_t>(engine->blocks()));
  }

  WorkPlan plan;
  cpu::ThreadBinding binding;  ///< near the GPU: of threads and the memory that they touch first
  std::unique_ptr<BlockSource> source;
  std::unique_ptr<BlockEngine> engine;
  std::optional<Tiling> whole_rows;  ///< the outputs of blocks, if these are whole rows of chunks
  std::vector<ElementRange> blocks;  ///< in order; there may be empty ones
};

/// One pass over a rank's blocks: its threads load their pieces, the caller computes block after
/// block, the threads store their pieces.
class BlockPipeline {
 public:
  /// Stores one piece; may throw Error.
  using Store = std::function<void(int worker, std::uint64_t block, std::uint64_t piece)>;

  /// Longest time in which an interrupt is not noticed.
  static constexpr std::chrono::microseconds watch_patience{20'000};

  /// Starts the threads. `pieces` says what of each block is to be loaded, all or nothing, and
  /// stored. Borrows the job. Throws Error.
  BlockPipeline(const BlockJob& job, const std::vector<PieceCounts>& pieces, Store store);

  /// Tells whether a block is loaded, now or after at most so long. Throws what a thread threw.
  bool loaded(std::uint64_t block, std::chrono::microseconds patience);

  /// Throws what a thread threw, once all of them have ended for it.
  void check() {
    if (flow_.stopped()) workers_.wait_for(std::chrono::microseconds(0));
  }

  /// Lets the next block in order be stored.
  void computed() { flow_.computed(); }

  /// Waits for the threads of all ranks while done() tells the bytes of the pass here. `failure` is
  /// the caller's, if any. Collective; throws the same Error on every rank.
  void finish(const std::exception_ptr& failure, const std::function<std::uint64_t()>& done,
              ProgressMonitor& monitor, const mpi::Communicator& communicator);

 private:
  void process(int worker, const PieceTask& task);

  const BlockJob& job_;
  Store store_;
  BlockFlow flow_;
  WorkerThreads workers_;
};

/// Returns the pieces in which a source brings each block.
std::vector<PieceCounts> pieces_to_load(const BlockJob& job);

}  // namespace warpfold::pipeline
