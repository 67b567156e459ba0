#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::cli {
namespace {

Axis parse_axis(const std::string& text) {
  const std::vector<Axis> axes = parse_axes("--axis", text);
  if (axes.size() == 1) return axes.front();
  throw usage_error("bad --axis '" + text + "'", "a scan goes along one axis", "Try --axis 0.");
}

class ScanCommand : public Command {
 public:
  explicit ScanCommand(CLI::App& program)
      : Command(program, "scan", "Write the prefix sums, minima or maxima of datasets") {
    add_dataset_arguments(application(), arguments_);
    add_scan_options();
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
  }

  void run(const Session& session) override {
    take_files(arguments_, options_.view, mpi::Communicator(session.communicator));
    require_output(options_.output);
    options_.output.command = shell_quoted(session.words);
    if (arguments_.several())
      scan_all(session, "", arguments_.datasets);
    else
      scan_all(session, arguments_.dataset(), arguments_.dataset());
  }

 private:
  using Outcomes = std::vector<DatasetOutcome<ScanResult>>;

  /// Scans one dataset, `name`, or a choice of several.
  template <class Datasets>
  void scan_all(const Session& session, const std::string& name, const Datasets& datasets) {
    const auto compute = [&](const RunOptions& run) {
      options_.run = run;
      return scan(session.communicator, arguments_.file, datasets, options_);
    };
    run_and_report({"scan", arguments_.file, name}, session, common_,
                   {arguments_.file, arguments_.datasets, options_.output.path, options_.view.mask,
                    options_.view.files},
                   compute, [&](const auto& result) { return make_report(result); });
  }

  void add_scan_options() {
    add_output_options(application(), options_.output);
    add("--op", "sum|min|max", "What to scan with; sum if not given",
        [this](const std::string& text) { options_.operation = parse_scan_operation(text); });
    add("--axis", "K|NAME",
        "Scan along this dimension alone, as NumPy's cumsum; a negative one counts from the last",
        [this](const std::string& text) { options_.axis = parse_axis(text); });
    add("--output-type", "TYPE",
        "i8 to i64, u8 to u64, f16, bf16, f32 or f64; if not given, sums of integers get 64 bits "
        "and everything else keeps its type",
        [this](const std::string& text) { options_.output_type = parse_element_type(text); });
    add("--overflow", "error|wrap",
        "Integers that the output's type can't hold: refuse, or wrap; error if not given",
        [this](const std::string& text) { options_.overflow = parse_overflow(text); });
    application().add_flag("--exclusive", options_.exclusive, "Leave out each place's own element");
    application().add_flag(
        "--offsets", options_.offsets,
        "Sums of N elements as N + 1 offsets, in one dimension: 0, the sum of the "
        "first element, of the first two, ..., of all");
    add_storage_options(application(), options_.storage);
  }

  Report make_report(const ScanResult& result) const {
    const DatasetRun run = run_on(arguments_.dataset(), result);
    const Table lines{{"output", fmt::format("{} {}", options_.output.path, output_text(result))},
                      {"count", fmt::format("{}", result.count)},
                      {"last", to_text(result.last)}};
    Report report = dataset_report(run, options_.view, aligned_text(lines), members_of(result),
                                   common_.timings);
    report.csv = {csv_columns()};
    add_rows(report.csv, run, rows(result));
    return report;
  }

  Report make_report(const Outcomes& outcomes) const {
    Report report = several_report("scan", arguments_.file, outcomes, options_.view,
                                   [&](const ScanResult& each) { return members_of(each); });
    report.csv = several_csv("scan", arguments_.file, outcomes,
                             [&](Table& csv, const std::string& dataset, const auto& result) {
                               add_rows(csv, run_on(dataset, result), rows(result));
                             });
    report.text = several_text(
        arguments_.file, outcomes, {"output", "last"},
        [](const ScanResult& result) {
          return std::vector<std::string>{output_text(result), to_text(result.last)};
        },
        common_.timings);
    return report;
  }

  DatasetRun run_on(const std::string& dataset, const ScanResult& result) const {
    return {"scan",        arguments_.file,   dataset,       result.shape,
            result.format, result.value_type, result.report, result.applied};
  }

  static std::string output_text(const ScanResult& result) {
    return fmt::format("{}: {}, {}", result.output_dataset, name_of(result.output_type),
                       extent_text(result.output_shape));
  }

  static std::vector<std::pair<std::string, std::string>> rows(const ScanResult& result) {
    return {{"count", fmt::format("{}", result.count)}, {"last", to_text(result.last, "")}};
  }

  Json members_of(const ScanResult& result) const {
    Json members;
    if (result.axis) members["axis"] = *result.axis;
    if (!result.axis_name.empty()) members["axis_name"] = result.axis_name;
    members["output_dtype"] = name_of(result.output_type);
    members["output_shape"] = result.output_shape;
    members["results"] = {{"output", options_.output.path},
                          {"output_dataset", result.output_dataset},
                          {"count", json_integer(result.count)},
                          {"last", json_value(result.last)}};
    return members;
  }

  DatasetArguments arguments_;
  ScanOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_scan_command(CLI::App& program) {
  return std::make_unique<ScanCommand>(program);
}

}  // namespace warpfold::cli
