#include "pipeline/run/worker_threads.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "mpi/agreement.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using mpi::WorkProgress;
using mpi::WorkState;

/// How long a failure elsewhere may stay unnoticed.
constexpr std::chrono::milliseconds working_patience{5};

/// How long the end of the last rank's work may.
constexpr std::chrono::microseconds finished_patience{200};

}  // namespace

WorkerThreads::WorkerThreads(int threads,
                             std::function<void(int worker, const std::stop_token& stop)> body)
    : body_(std::move(body)), running_(threads) {
  try {
    for (int worker = 0; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { run(worker); });
  } catch (const std::system_error& error) {
    stop();
    threads_.clear();
    throw Error("cannot start " + std::to_string(threads) + " threads", error.what(),
                "Request fewer with `threads`, or raise the limit of processes.");
  }
}

WorkerThreads::~WorkerThreads() { stop(); }

void WorkerThreads::end() {
  stop();
  threads_.clear();
}

void WorkerThreads::run(int worker) {
  std::exception_ptr failure;
  try {
    body_(worker, stop_.get_token());
  } catch (...) {
    failure = std::current_exception();
    stop();
  }
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    --running_;
  }
  ended_.notify_one();
}

bool WorkerThreads::wait_for(std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, patience, [this] { return running_ == 0; })) return false;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

void wait_all_ranks(WorkerThreads& workers, const mpi::Communicator& communicator,
                    ProgressMonitor& monitor, const std::function<std::uint64_t()>& done) {
  mpi::WorkWatch ranks(communicator);
  WorkProgress mine;
  std::exception_ptr failure;
  WorkState all = WorkState::working;
  while (all == WorkState::working) {
    if (mine.state != WorkState::working) std::this_thread::sleep_for(finished_patience);
    try {
      if (mine.state == WorkState::working && workers.wait_for(working_patience))
        mine.state = WorkState::done;
      if (mine.state != WorkState::failed) {
        monitor.poll();
        mine.done = done();
      }
    } catch (...) {
      failure = std::current_exception();
      mine.state = WorkState::failed;
      workers.stop();
    }
    if (const auto whole = ranks.exchange(mine)) {
      all = whole->state;
      monitor.advance(whole->done);
    }
  }
  // No rank may use space of the file again where another one's thread still writes.
  workers.end();
  mpi::throw_on_all_ranks(failure, communicator);
  monitor.finish_pass();
}

}  // namespace warpfold::pipeline
