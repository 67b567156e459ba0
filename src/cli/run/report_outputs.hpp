#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/common_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/report_file.hpp"
#include "cli/run/run_metrics.hpp"
#include "cli/run/session.hpp"

namespace warpfold::cli {

/// Where a command's report goes.
class ReportOutputs {
 public:
  /// Opens the files that `options` names, that of metrics too; `used_files` are those the command
  /// reads and writes, which no report may replace. Collective. Throws a usage Error for outputs
  /// that collide, an Error for one that can't be written.
  ReportOutputs(const Session& session, const CommonOptions& options,
                std::vector<std::string> used_files);

  /// Writes the report that `make` gives; it is called on rank 0 alone. Collective. Throws Error.
  void publish(const std::function<Report()>& make);

  /// Where the run's metrics go; null where none are asked for, and on other ranks than 0.
  RunMetrics* metrics() { return metrics_ ? &*metrics_ : nullptr; }

  /// The command will publish nothing, as it failed.
  void fail(const std::exception& failure);

 private:
  void open();
  void write(const Report& report);

  const Session& session_;
  const CommonOptions& options_;
  std::vector<std::string> used_files_;
  std::optional<ReportFile> json_;
  std::optional<ReportFile> csv_;
  std::optional<RunMetrics> metrics_;
};

}  // namespace warpfold::cli
