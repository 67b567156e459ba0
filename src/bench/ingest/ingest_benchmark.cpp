#include "bench/ingest/ingest_benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "mpi/mpi_error.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"

namespace warpfold::bench {
namespace {

double run_once(IngestCandidate& candidate, const RunOptions& options,
                const mpi::Communicator& communicator) {
  pipeline::run_on_all(communicator, [&] { pipeline::leave_if_interrupted(options); });
  if (candidate.prepare) candidate.prepare();
  mpi::check(MPI_Barrier(communicator.get()), "MPI_Barrier");
  const double seconds = candidate.run();
  if (candidate.is_right) {
    const bool right = candidate.is_right();
    const bool right_so_far = candidate.row.check != Check::wrong;
    candidate.row.check = right && right_so_far ? Check::right : Check::wrong;
  }
  return seconds;
}

void finish_row(Row& row, std::vector<double> seconds, const mpi::Communicator& communicator) {
  row.seconds = spread_of(mpi::maximum(std::move(seconds), communicator));
  if (row.seconds->median > 0)
    row.gigabytes_per_second = static_cast<double>(row.useful_bytes) / row.seconds->median * 1e-9;
  const std::uint64_t wrong = row.check == Check::wrong ? 1 : 0;
  if (mpi::broadcast(wrong, communicator) != 0) row.check = Check::wrong;
}

}  // namespace

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void hold_ingest_benchmark(std::vector<IngestCandidate>& candidates, int iterations,
                           const RunOptions& options, const mpi::Communicator& communicator) {
  std::vector<std::vector<double>> seconds(candidates.size());
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const std::size_t number : order) run_once(candidates[number], options, communicator);
  std::mt19937 random;
  for (int round = 0; round < iterations; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t number : order)
      seconds[number].push_back(run_once(candidates[number], options, communicator));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i)
    finish_row(candidates[i].row, std::move(seconds[i]), communicator);
}

void compare_with_ceiling(std::vector<Row>& rows) {
  double ceiling = 0;
  for (const Row& row : rows)
    if (row.ceiling && row.seconds) ceiling = std::max(ceiling, row.seconds->median);
  if (ceiling == 0) return;
  for (Row& row : rows)
    if (row.seconds && row.seconds->median > 0) row.of_ceiling = ceiling / row.seconds->median;
}

}  // namespace warpfold::bench
