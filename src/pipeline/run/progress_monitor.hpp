#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "core/engine/stage_registry.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Throws Error once the run's `interrupted` flag is set.
void leave_if_interrupted(const RunOptions& options);

/// Tells of a rank's run while it lasts: a thread of its own calls the `progress` of the
/// options, where there is one, whatever the run waits for, and once more in the end.
class ProgressMonitor {
 public:
  /// `options` outlives it.
  explicit ProgressMonitor(const RunOptions& options);
  ~ProgressMonitor();
  ProgressMonitor(const ProgressMonitor&) = delete;
  ProgressMonitor& operator=(const ProgressMonitor&) = delete;

  StageRegistry& stages() { return stages_; }

  /// Begins a dataset, the `number`-th of so many, counted from 1.
  void start_dataset(const std::string& name, std::size_t number, std::size_t datasets);

  /// Begins a pass of all ranks over so many bytes.
  void start_pass(std::uint64_t total);

  /// Counts so many of them as done, of all ranks. Less than before, or more than all, is not
  /// believed.
  void advance(std::uint64_t done);

  /// Advances where only this rank's are known, `done` of `share`: others are as far.
  void advance_share(std::uint64_t done, std::uint64_t share);

  void finish_pass();

  /// Throws where the run is to end: it is interrupted, or `progress` threw.
  void poll();

 private:
  using Clock = std::chrono::steady_clock;

  RunProgress progress() const;
  void tell_until(const std::stop_token& stop);

  const RunOptions& options_;
  Clock::time_point start_ = Clock::now();
  StageRegistry stages_;
  mutable std::mutex mutex_;
  RunProgress progress_;  ///< but for its times and stages
  Clock::time_point pass_start_ = start_;
  std::exception_ptr failure_;  ///< error of `progress`
  std::jthread teller_;
};

}  // namespace warpfold::pipeline
