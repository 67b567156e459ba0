#pragma once

#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/scan/block_work.hpp"

namespace warpfold::pipeline {

struct ScanOutcome {
  std::uint64_t last_bits;  ///< value_bits() of the output's last element, on every rank
  std::vector<StageTiming> stages;
};

/// Reads, scans and writes all blocks of this rank, at least one in all. Collective; throws the
/// same Error on every rank.
ScanOutcome scan_blocks(const ScanJob& job, ProgressMonitor& monitor,
                        const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
