#pragma once

#include <cstdint>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/scan/scan_spec.hpp"
#include "io/output/output.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/scan/block_pipeline.hpp"

namespace warpfold::pipeline {

/// What a scan's supersteps need beside each other. All ranks have equally many blocks, one in each
/// superstep.
struct ScanJob {
  BlockJob blocks;
  ScanEngine& engine;
  io::ContiguousWriter& writer;
  ScanSpec spec;
  std::uint64_t elements;        ///< of the dataset
  std::uint64_t piece_elements;  ///< of one piece written: a multiple of a scan tile
  int rank_of_last;              ///< that has the last element
};

struct ScanOutcome {
  std::uint64_t last_bits;  ///< value_bits() of the output's last element, on every rank
  std::vector<StageTiming> stages;
};

/// Reads, scans and writes all blocks of this rank, at least one in all. Collective; throws the
/// same Error on every rank.
ScanOutcome scan_blocks(const ScanJob& job, ProgressMonitor& monitor,
                        const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
