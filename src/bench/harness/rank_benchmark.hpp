#pragma once

#include <functional>
#include <vector>

#include "bench/harness/row.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::bench {

/// Something that all ranks do together.
struct RankCandidate {
  Row row;  ///< with a note where it can't run
  /// Collective; what it throws on one rank it throws after it has communicated.
  std::function<void()> run;
};

/// Runs the candidates that can run in turn, round after round, each from a barrier on, and sets
/// their rows' times, of the slowest rank by the host's clock, and rates, of all ranks together. A
/// few rounds before do not count. Every rank brings the same rows and gets the result. Collective.
/// Throws Error, on all ranks the same.
void hold_rank_benchmark(std::vector<RankCandidate>& candidates, int iterations,
                         const RunOptions& options, const mpi::Communicator& communicator);

}  // namespace warpfold::bench
