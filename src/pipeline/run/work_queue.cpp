#include "pipeline/run/work_queue.hpp"

#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"

namespace warpfold::pipeline {

std::optional<std::uint64_t> WorkQueue::Worker::next() {
  if (is_to_stop()) return std::nullopt;
  if (mine_.count == 0) mine_ = {queue_.next_.fetch_add(queue_.run_), queue_.run_};
  if (mine_.first >= queue_.items_.end()) return std::nullopt;
  --mine_.count;
  return mine_.first++;
}

std::uint64_t WorkQueue::Worker::left() const {
  const std::uint64_t next = queue_.next_;
  return next < queue_.items_.end() ? queue_.items_.end() - next : 0;
}

std::vector<StageTiming> WorkQueue::run(int threads, const Body& body, std::uint64_t bytes,
                                        ProgressMonitor& monitor,
                                        const mpi::Communicator& communicator) {
  std::vector<std::vector<StageTiming>> timings(static_cast<std::size_t>(threads));
  std::optional<WorkerThreads> workers;
  monitor.start_pass(bytes);
  run_on_all(communicator, [&] {
    workers.emplace(threads, [&](int number, const std::stop_token& stop) {
      Worker worker(number, *this, stop);
      timings[static_cast<std::size_t>(number)] = body(worker);
    });
  });
  wait_all_ranks(*workers, communicator, monitor, [&] { return done_.load(); });
  std::vector<StageTiming> all;
  for (const auto& each : timings) append(all, each);
  return all;
}

}  // namespace warpfold::pipeline
