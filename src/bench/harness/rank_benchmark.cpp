#include "bench/harness/rank_benchmark.hpp"

#include <cstddef>
#include <exception>
#include <utility>

#include "bench/ingest/ingest_benchmark.hpp"
#include "mpi/mpi_error.hpp"
#include "pipeline/arrays/device_agreement.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"

namespace warpfold::bench {
namespace {

constexpr int warm_up_rounds = 3;

/// A candidate that runs, and its times on this rank.
struct Lane {
  RankCandidate* candidate;
  std::vector<double> seconds;
};

/// A benchmark whose ranks all go on to the end of a round, whatever fails on one of them.
class RankBenchmark {
 public:
  RankBenchmark(std::vector<Lane> lanes, const RunOptions& options,
                const mpi::Communicator& communicator)
      : lanes_(std::move(lanes)), options_(options), communicator_(communicator) {}

  void run(int iterations) {
    for (int round = 0; round < warm_up_rounds + iterations; ++round) {
      if (round == warm_up_rounds)
        for (Lane& lane : lanes_) lane.seconds.clear();
      for (std::size_t i = 0; i < lanes_.size(); ++i)
        time(lanes_[(static_cast<std::size_t>(round) + i) % lanes_.size()]);
      pipeline::run_on_all(communicator_, [this] {
        if (failure_) std::rethrow_exception(failure_);
        pipeline::leave_if_interrupted(options_);
      });
    }
    for (Lane& lane : lanes_) finish(lane);
  }

 private:
  void time(Lane& lane) {
    mpi::check(MPI_Barrier(communicator_.get()), "MPI_Barrier");
    std::exception_ptr failure;
    lane.seconds.push_back(
        seconds_of([&] { failure = pipeline::capture_exception(lane.candidate->run); }));
    if (!failure_) failure_ = failure;
  }

  void finish(Lane& lane) const {
    Row& row = lane.candidate->row;
    row.seconds = spread_of(mpi::maximum(std::move(lane.seconds), communicator_));
    const auto bytes = static_cast<double>(row.useful_bytes) * communicator_.size();
    if (row.useful_bytes != 0) row.gigabytes_per_second = bytes / row.seconds->median * 1e-9;
  }

  std::vector<Lane> lanes_;
  const RunOptions& options_;
  const mpi::Communicator& communicator_;
  std::exception_ptr failure_;
};

}  // namespace

void hold_rank_benchmark(std::vector<RankCandidate>& candidates, int iterations,
                         const RunOptions& options, const mpi::Communicator& communicator) {
  std::vector<Lane> lanes;
  for (RankCandidate& candidate : candidates)
    if (candidate.row.note.empty()) lanes.push_back({&candidate, {}});
  RankBenchmark(std::move(lanes), options, communicator).run(iterations);
}

}  // namespace warpfold::bench
