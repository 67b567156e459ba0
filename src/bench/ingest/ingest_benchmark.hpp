#pragma once

#include <functional>
#include <vector>

#include "bench/harness/row.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::bench {

/// One of the ways from or to a file that are measured side by side. All calls are collective.
struct IngestCandidate {
  Row row;
  std::function<void()> prepare;   ///< what is not to be timed, before each run; may be empty
  std::function<double()> run;     ///< returns the seconds it took this rank
  std::function<bool()> is_right;  ///< of the run before, counts on the root; may be empty
};

/// The seconds that `body` takes.
double seconds_of(const std::function<void()>& body);

/// Runs the candidates in turn, round after round, and sets times, rates and checks of their rows:
/// a run takes as long as its slowest rank. A first round, in the order given, does not count; the
/// others each have an order of their own. Collective. Throws Error, on all ranks the same.
void hold_ingest_benchmark(std::vector<IngestCandidate>& candidates, int iterations,
                           const RunOptions& options, const mpi::Communicator& communicator);

/// Sets the rates relative to the slowest ceiling among the rows.
void compare_with_ceiling(std::vector<Row>& rows);

}  // namespace warpfold::bench
