#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/run/backend_choice.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Throws a usage Error unless slab_bytes is 0 (to be chosen) or 4 KiB to 1 GiB.
void check_slab_bytes(std::uint64_t slab_bytes);

/// What the datasets of one run share: who watches, its ranks, and this rank's backend, which
/// starts in a thread of its own.
struct Run {
  /// Collective over `parent`. Throws the same Error on every rank, a usage Error for options that
  /// can't be.
  Run(MPI_Comm parent, const RunOptions& run_options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const RunOptions& options;
  ProgressMonitor monitor;
  mpi::Communicator communicator;
  BackendPlacement place;
  StartingBackend backend;
};

/// Reports what ran since `start`; of `stages`, those of the busiest rank. Collective.
RunReport report_of(Run& run, const std::vector<StageTiming>& stages,
                    std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
