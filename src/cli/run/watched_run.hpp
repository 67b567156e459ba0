#pragma once

#include <mpi.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/common_settings.hpp"
#include "cli/report/report.hpp"
#include "cli/report/report_file.hpp"
#include "cli/run/progress_bar.hpp"
#include "cli/run/run_metrics.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// A session describes the process that a command runs in.
struct Session {
  MPI_Comm communicator = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  std::vector<std::string> words;  ///< words of the command line, "warpfold" the first

  bool is_root() const { return rank == 0; }
};

/// Used files are those that a command reads and writes; empty where it doesn't.
struct UsedFiles {
  std::string input;
  DatasetChoice datasets;  ///< datasets of the input
  std::string output;
  std::vector<std::string> files = {};   ///< as ViewOptions have them
  std::vector<std::string> beside = {};  ///< datasets as ViewOptions::mask names one
};

/// Report outputs are what a command's report goes to.
class ReportOutputs {
 public:
  /// Opens the files that `options` names, that of metrics too; no report may replace one of those
  /// used, nor one that the input's datasets rest on. Collective. Throws a usage Error for outputs
  /// that collide, an Error for one that can't be written.
  ReportOutputs(const Session& session, const CommonOptions& options, UsedFiles used);

  /// Writes the report that `make` gives; it is called on rank 0 alone. Collective. Throws Error,
  /// also the report's own.
  void publish(const std::function<Report()>& make);

  /// Returns where the run's metrics go; null where none are requested, and on other ranks than 0.
  RunMetrics* metrics() { return metrics_ ? &*metrics_ : nullptr; }

  /// Notes that the command will publish nothing, as it failed.
  void fail(const std::exception& failure);

 private:
  void open();
  void write(Report report);

  const Session& session_;
  const CommonOptions& options_;
  UsedFiles used_;
  std::optional<ReportFile> json_;
  std::optional<ReportFile> csv_;
  std::optional<RunMetrics> metrics_;
};

/// A watched run is under the user's eyes: it shows its progress, tells its metrics, and can be
/// interrupted.
class WatchedRun {
 public:
  WatchedRun(const RunSubject& subject, const Session& session, const CommonOptions& common,
             ReportOutputs& outputs);
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  /// Returns what body(the options to run with) does. Throws what it throws.
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

/// Returns what compute(the options to run with) does under the user's eyes, its report published:
/// report(result) is called on rank 0 alone. No report may replace a file of `used`.
/// Collective. Throws what they throw.
template <class Compute, class MakeReport>
auto run_and_report(const RunSubject& subject, const Session& session, const CommonOptions& common,
                    UsedFiles used, Compute&& compute, MakeReport&& report) {
  ReportOutputs outputs(session, common, std::move(used));
  auto result = WatchedRun(subject, session, common, outputs)(compute);
  outputs.publish([&] { return report(result); });
  return result;
}

}  // namespace warpfold::cli
