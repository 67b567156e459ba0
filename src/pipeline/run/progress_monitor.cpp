#include "pipeline/run/progress_monitor.hpp"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <system_error>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Signals are for the threads of the program.
void leave_signals_to_others() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

void leave_if_interrupted(const RunOptions& options) {
  if (options.interrupted != nullptr && options.interrupted->load())
    throw Error("interrupted", "a signal arrived", "Nothing was written under the output's name.");
}

ProgressMonitor::ProgressMonitor(const RunOptions& options) : options_(options) {
  if (!options.progress) return;
  try {
    teller_ = std::jthread([this](const std::stop_token& stop) { tell_until(stop); });
  } catch (const std::system_error& error) {
    failure_ =
        std::make_exception_ptr(Error("cannot start a thread that reports progress", error.what(),
                                      "Request fewer threads, or raise the limit of processes."));
  }
}

ProgressMonitor::~ProgressMonitor() {
  if (!teller_.joinable()) return;
  teller_.request_stop();
  teller_.join();
  if (failure_) return;
  try {
    options_.progress(progress());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the run is over
  }
}

void ProgressMonitor::start_dataset(const std::string& name, std::size_t number,
                                    std::size_t datasets) {
  const std::lock_guard lock(mutex_);
  progress_ = {};
  progress_.dataset = name;
  progress_.number = number;
  progress_.datasets = datasets;
}

void ProgressMonitor::start_pass(std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  ++progress_.pass;
  progress_.done = 0;
  progress_.total = total;
  pass_start_ = Clock::now();
}

void ProgressMonitor::advance(std::uint64_t done) {
  const std::lock_guard lock(mutex_);
  progress_.done = std::max(progress_.done, std::min(done, progress_.total));
}

void ProgressMonitor::advance_share(std::uint64_t done, std::uint64_t share) {
  if (share == 0) return;
  const double part = static_cast<double>(done) / static_cast<double>(share);
  std::uint64_t total = 0;
  {
    const std::lock_guard lock(mutex_);
    total = progress_.total;
  }
  advance(static_cast<std::uint64_t>(part * static_cast<double>(total)));
}

void ProgressMonitor::finish_pass() {
  const std::lock_guard lock(mutex_);
  progress_.done = progress_.total;
}

void ProgressMonitor::poll() {
  leave_if_interrupted(options_);
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

RunProgress ProgressMonitor::progress() const {
  const auto now = Clock::now();
  RunProgress progress;
  {
    const std::lock_guard lock(mutex_);
    progress = progress_;
    if (progress.pass > 0) progress.pass_seconds = seconds_between(pass_start_, now);
  }
  progress.seconds = seconds_between(start_, now);
  progress.stages = stages_.progress();
  return progress;
}

void ProgressMonitor::tell_until(const std::stop_token& stop) {
  leave_signals_to_others();
  std::mutex unused;
  std::unique_lock lock(unused);
  std::condition_variable_any stopped;
  try {
    const auto never = [] { return false; };
    while (!stopped.wait_for(lock, stop, options_.progress_interval, never) &&
           !stop.stop_requested())
      options_.progress(progress());
  } catch (...) {
    const std::lock_guard guard(mutex_);
    failure_ = std::current_exception();
  }
}

}  // namespace warpfold::pipeline
