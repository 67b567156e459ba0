#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/engine/backend.hpp"
#include "io/output/output.hpp"
#include "pipeline/regions/block_source.hpp"
#include "pipeline/regions/scan_cut.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/scan/block_flow.hpp"

namespace warpfold::pipeline {

/// What a scan's supersteps need beside each other.
struct ScanJob {
  BlockSource& source;
  ScanEngine& engine;
  io::ContiguousWriter& writer;
  ScanSpec spec;
  BlockNumbers blocks;
  std::uint64_t piece_elements;  ///< of one piece written: a multiple of a tile
  int threads;
};

/// What threads do between file and engine: each loads and stores pieces as the flow hands them
/// out.
class BlockWork {
 public:
  BlockWork(const ScanJob& job, BlockFlow& flow, StageRegistry& stages);

  /// The body of thread `worker`, which returns once all pieces are done or `stop` asks it to.
  /// Throws Error.
  void run(int worker, const std::stop_token& stop);

  std::uint64_t bytes_written() const { return bytes_written_; }
  std::uint64_t bytes_to_write() const { return bytes_to_write_; }

  /// value_bits() of the last element of the dataset, once all is written, on the rank that has it.
  std::uint64_t last_bits() const { return last_bits_; }

  /// By thread; once they are done.
  std::vector<StageTiming> timings() const { return write_timers_.timings(); }

 private:
  BlockTask block_of(std::uint64_t superstep) const;
  void carry_out(int worker, const PieceTask& task);
  void store(int worker, const BlockTask& task, std::uint64_t piece);

  const ScanJob& job_;
  BlockFlow& flow_;
  StageTimers write_timers_;
  std::uint64_t bytes_to_write_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::uint64_t last_bits_ = 0;
};

/// The pieces of each superstep's block.
std::vector<PieceCounts> piece_counts(const ScanJob& job);

}  // namespace warpfold::pipeline
