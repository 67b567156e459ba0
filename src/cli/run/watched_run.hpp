#pragma once

#include <chrono>
#include <exception>

#include "cli/options/common_options.hpp"
#include "cli/run/progress_bar.hpp"
#include "cli/run/report_outputs.hpp"
#include "cli/run/run_metrics.hpp"
#include "cli/run/session.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// A run under the user's eyes: it shows its progress, tells its metrics, and can be interrupted.
class WatchedRun {
 public:
  WatchedRun(const RunSubject& subject, const Session& session, const CommonOptions& common,
             ReportOutputs& outputs);
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  /// What body(the options to run with) returns. Throws what it throws.
  template <class Body>
  auto operator()(Body&& body) {
    try {
      return body(options_);
    } catch (const std::exception& failure) {
      outputs_.fail(failure);
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  void show(const RunProgress& now);

  ProgressBar bar_;
  ReportOutputs& outputs_;
  RunOptions options_;
  Clock::time_point next_;  ///< time for rates
  RunProgress before_;      ///< when rates were last made
  RunRates lately_;
};

/// What body(options) returns under the user's eyes. Throws what it throws.
template <class Body>
auto progress_monitored(const RunSubject& subject, const Session& session,
                        const CommonOptions& common, ReportOutputs& outputs, Body&& body) {
  return WatchedRun(subject, session, common, outputs)(body);
}

}  // namespace warpfold::cli
