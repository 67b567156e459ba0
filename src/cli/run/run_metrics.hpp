#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/report/json_writer.hpp"
#include "cli/report/report_file.hpp"
#include "cli/run/stage_rates.hpp"
#include "warpfold/run_progress.hpp"

namespace warpfold::cli {

struct RunSubject {
  std::string command;
  std::string file;
  std::string dataset;  ///< empty: the run names it
};

enum class RunState : std::uint8_t { running, done, failed, interrupted };

/// A sample is a moment of a run as a line of metrics tells it.
struct MetricsSample {
  std::chrono::system_clock::time_point time;
  double elapsed = 0;  ///< seconds since the command's start
  RunState state = RunState::running;
  std::string error;  ///< why a run failed or was interrupted
  int ranks = 1;
  RunProgress progress;
  RunRates lately;  ///< since the line before
};

/// Makes one line of the schema warpfold.metrics/1.
Json metrics_json(const RunSubject& subject, const MetricsSample& sample);

/// Tells a run's metrics line by line: at its start, while it runs and at its end. One thread at a
/// time.
class RunMetrics {
 public:
  /// Throws Error where `target` can't be written, as a LineLog does.
  RunMetrics(std::string target, int ranks, const std::atomic<bool>* interrupted = nullptr)
      : log_(std::move(target), interrupted), ranks_(ranks) {}

  void start(RunSubject subject);
  void tell(const RunProgress& progress, const RunRates& lately);

  /// Notes progress for the last line, which tells of all the run.
  void note(const RunProgress& progress) { last_ = progress; }

  /// Writes the last line; further ones are dropped. `error` is why, unless the state is `done`.
  void end(RunState state, const std::string& error);

 private:
  using Clock = std::chrono::steady_clock;

  void append(RunState state, const std::string& error, const RunProgress& progress,
              const RunRates& lately);

  LineLog log_;
  int ranks_;
  RunSubject subject_;
  Clock::time_point start_ = Clock::now();
  RunProgress last_;
  bool ended_ = false;
};

}  // namespace warpfold::cli
