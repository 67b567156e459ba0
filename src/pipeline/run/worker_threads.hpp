#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/run/progress_monitor.hpp"

namespace warpfold::pipeline {

/// Threads of one piece of work. Where one throws, all are asked to stop.
class WorkerThreads {
 public:
  /// Runs body(worker, stop) for each worker 0..threads-1; a body that is asked to stop returns
  /// soon. Throws Error where the system gives no more threads.
  WorkerThreads(int threads, std::function<void(int worker, const std::stop_token& stop)> body);

  /// Stops and joins them.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Waits until all have ended, or as long as `patience`. Returns whether they have; throws what
  /// the first one threw.
  bool wait_for(std::chrono::microseconds patience);

  void stop() { stop_.request_stop(); }

  /// Stops and joins them.
  void end();

 private:
  void run(int worker);

  std::function<void(int, const std::stop_token&)> body_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

/// Waits for the workers of all ranks, which each rank passes; meanwhile attends to the watch every
/// few milliseconds, and advances it by what done() says on each rank: bytes of the pass, or it
/// throws to end the work. Where a rank fails, all ranks stop their workers and throw its Error.
/// Workers must not communicate. Collective.
void wait_all_ranks(WorkerThreads& workers, const mpi::Communicator& communicator,
                    ProgressMonitor& monitor, const std::function<std::uint64_t()>& done);

}  // namespace warpfold::pipeline
