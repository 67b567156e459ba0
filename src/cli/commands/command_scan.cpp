#include <fmt/format.h>

#include <string>
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
      : Command(program, "scan", "Write the prefix sums, minima or maxima of a dataset") {
    add_dataset_arguments(application(), file_, dataset_);
    add_scan_options();
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
  }

  void run(const Session& session) override {
    require_output(options_.output);
    options_.output.command = shell_quoted(session.words);
    const auto compute = [&](const RunOptions& run) {
      options_.run = run;
      return scan(session.communicator, file_, dataset_, options_);
    };
    run_and_report({"scan", file_, dataset_}, session, common_,
                   {file_, {{dataset_}}, options_.output.path, options_.view.mask}, compute,
                   [&](const ScanResult& result) { return make_report(result); });
  }

 private:
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
    const DatasetRun run{"scan",        file_,         dataset_,
                         result.shape,  result.input,  result.value_type,
                         result.report, result.applied};
    const Table lines{
        {"output", fmt::format("{} {}: {}, {}", options_.output.path, result.output_dataset,
                               name_of(result.output_type), extent_text(result.output_shape))},
        {"count", fmt::format("{}", result.count)},
        {"last", to_text(result.last)}};
    Json members;
    if (result.axis) members["axis"] = *result.axis;
    if (!result.axis_name.empty()) members["axis_name"] = result.axis_name;
    members["output_dtype"] = name_of(result.output_type);
    members["output_shape"] = result.output_shape;
    members["results"] = {{"output", options_.output.path},
                          {"output_dataset", result.output_dataset},
                          {"count", json_integer(result.count)},
                          {"last", json_value(result.last)}};
    Report report =
        dataset_report(run, options_.view, aligned_text(lines), members, common_.timings);
    report.csv = {csv_columns()};
    add_rows(report.csv, run,
             {{"count", fmt::format("{}", result.count)}, {"last", to_text(result.last, "")}});
    return report;
  }

  std::string file_;
  std::string dataset_;
  ScanOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_scan_command(CLI::App& program) {
  return std::make_unique<ScanCommand>(program);
}

}  // namespace warpfold::cli
