#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/harness/result.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

/// The one loop that every benchmark measures by.
namespace warpfold::bench {

/// One of those that are measured side by side.
struct Candidate {
  Row row;  ///< known facts; with a note if it can't run, then nothing below is set

  /// Runs it, or puts it into a stream, as launch number `launch`: each number may mean other data.
  std::function<void(std::uint64_t launch)> run = {};

  std::function<void()> before = {};         ///< untimed, before each run; may be empty
  std::function<void(Row& row)> after = {};  ///< untimed, after each run, may judge it or be empty
  double scale = 1.0;                        ///< factor of a run's time, if it is that of a sample
};

/// Numbers of runs of every candidate: first so many uncounted, then so many counted.
struct Rounds {
  int warm_up = 3;
  int measured = 21;
};

/// Runs each of the candidates once, in the order given and from launch number `launch` on, and
/// returns their seconds.
using TimeRound =
    std::function<std::vector<double>(std::span<Candidate* const> in_turn, std::uint64_t launch)>;

/// Runs the candidates in turn, round after round, so that whatever befalls the machine befalls all
/// of them alike, and returns their rows with the times of those that can run. The first round has
/// the order given. Each later one has an order of its own, the same on every rank, as one that
/// follows a copy pays for what the copy left in the cache to be written.
std::vector<Row> measure(std::vector<Candidate> candidates, const Rounds& rounds,
                         const TimeRound& time_round);

/// Times a round, as a TimeRound does, by the host's clock: from the call of run() to its return.
std::vector<double> time_on_host(std::span<Candidate* const> in_turn, std::uint64_t launch);

/// Makes a TimeRound of what all ranks do together, each time from a barrier on: the seconds of the
/// slowest rank. Every rank brings the same candidates, whose functions are collective; what run()
/// throws on one rank it throws after it has communicated. The TimeRound is collective, throws
/// Error, on all ranks the same, and must not outlive its arguments.
TimeRound timed_on_all_ranks(const RunOptions& options, const mpi::Communicator& communicator);

}  // namespace warpfold::bench
