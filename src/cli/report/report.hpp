#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/session.hpp"
#include "cli/options/common_options.hpp"
#include "cli/report/json_writer.hpp"
#include "cli/report/report_file.hpp"
#include "cli/report/table.hpp"
#include "cli/run/run_metrics.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// What a command has to tell, in every form it may be asked for.
struct Report {
  std::string text;  ///< for a reader; lines
  Json json;
  Table csv;
  std::string note;  ///< one line for standard error, or empty
};

/// The first members of every report's JSON, up to the build.
Json json_head(const std::string& command);

/// json_head() with the run's ranks, hosts, devices and backend, and the file that it read.
Json json_head(const std::string& command, const RunReport& run, const std::string& file);

/// Adds what a dataset is.
void add_shape(Json& document, const std::vector<std::uint64_t>& shape, ElementFormat format);

/// json_head() of a run on one dataset.
Json json_head(const std::string& command, const RunReport& run, const std::string& file,
               const std::string& dataset, const std::vector<std::uint64_t>& shape,
               ElementFormat format);

/// Each stage's threads, seconds, bytes and GB/s, and the bottleneck.
Json timings_json(const RunReport& run);

/// The same as lines; nothing unless `wanted`.
std::string timings_text(const RunReport& run, bool wanted);

/// "4 ranks on 1 host, cuda: 4 x NVIDIA H200".
std::string run_text(const RunReport& run);

/// The note on a backend that was not the first choice, and on a binding that slows the run.
std::string run_note(const RunReport& run);

/// The columns of a run's CSV.
std::vector<std::string> csv_columns();

/// One result of a run.
std::vector<std::string> csv_row(std::string_view command, const std::string& file,
                                 const std::string& dataset, ElementType type, const RunReport& run,
                                 std::string_view statistic, const Value& value);

/// A dataset that a run skipped, and why.
std::vector<std::string> skipped_row(std::string_view command, const std::string& file,
                                     const std::string& dataset, const RunReport& run,
                                     const std::string& reason);

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
