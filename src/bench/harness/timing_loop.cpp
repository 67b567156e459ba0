#include "bench/harness/timing_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "mpi/communicator.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"

namespace warpfold::bench {
namespace {

double seconds_of_run(const Candidate& candidate, std::uint64_t launch) {
  const auto start = std::chrono::steady_clock::now();
  candidate.run(launch);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() * candidate.scale;
}

/// Candidates that can run, and the times of each.
class TimingLoop {
 public:
  explicit TimingLoop(std::vector<Candidate>& candidates) {
    for (Candidate& candidate : candidates)
      if (candidate.row.note.empty()) candidates_.push_back(&candidate);
    order_.resize(candidates_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    seconds_.resize(candidates_.size());
  }

  void run(const Rounds& rounds, const TimeRound& time_round) {
    if (candidates_.empty()) return;
    for (int round = 0; round < rounds.warm_up + rounds.measured; ++round) {
      if (round > 0) std::shuffle(order_.begin(), order_.end(), random_);
      run_round(static_cast<std::uint64_t>(round) * order_.size(), round >= rounds.warm_up,
                time_round);
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      candidates_[i]->row.seconds = spread_of(std::move(seconds_[i]));
  }

 private:
  void run_round(std::uint64_t launch, bool counts, const TimeRound& time_round) {
    std::vector<Candidate*> in_turn;
    for (const std::size_t number : order_) in_turn.push_back(candidates_[number]);
    const std::vector<double> seconds = time_round(in_turn, launch);
    if (!counts) return;
    for (std::size_t i = 0; i < order_.size(); ++i) seconds_[order_[i]].push_back(seconds[i]);
  }

  std::vector<Candidate*> candidates_;
  std::vector<std::vector<double>> seconds_;
  std::vector<std::size_t> order_;
  std::mt19937 random_;
};

}  // namespace

std::vector<Row> measure(std::vector<Candidate> candidates, const Rounds& rounds,
                         const TimeRound& time_round) {
  TimingLoop(candidates).run(rounds, time_round);
  std::vector<Row> rows;
  for (Candidate& candidate : candidates) rows.push_back(std::move(candidate.row));
  return rows;
}

std::vector<double> time_on_host(std::span<Candidate* const> in_turn, std::uint64_t launch) {
  std::vector<double> seconds;
  for (Candidate* candidate : in_turn) {
    if (candidate->before) candidate->before();
    seconds.push_back(seconds_of_run(*candidate, launch++));
    if (candidate->after) candidate->after(candidate->row);
  }
  return seconds;
}

TimeRound timed_on_all_ranks(const RunOptions& options, const mpi::Communicator& communicator) {
  return [&](std::span<Candidate* const> in_turn, std::uint64_t launch) {
    std::vector<double> seconds;
    for (Candidate* candidate : in_turn) {
      if (candidate->before) candidate->before();
      mpi::barrier(communicator);
      pipeline::run_on_all(communicator, [&] {
        seconds.push_back(seconds_of_run(*candidate, launch++));
        pipeline::leave_if_interrupted(options);
      });
      if (candidate->after) candidate->after(candidate->row);
    }
    return mpi::maximum(std::move(seconds), communicator);
  };
}

}  // namespace warpfold::bench
