#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_arguments.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/output_options.hpp"
#include "cli/options/view_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::cli {
namespace {

std::int64_t parse_axis(const std::string& text) {
  const std::vector<std::int64_t> axes = parse_axes("--axis", text);
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
    check_storage_options(options_.storage);
    ReportOutputs outputs(session, common_, {file_, options_.output.path});
    options_.output.command = shell_quoted(session.words);
    const RunSubject subject{"scan", file_, dataset_};
    const ScanResult result =
        progress_monitored(subject, session, common_, outputs, [&](const RunOptions& run) {
          options_.run = run;
          return scan(session.communicator, file_, dataset_, options_);
        });
    outputs.publish([&] { return make_report(result); });
  }

 private:
  void add_scan_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application().add_option_function<std::string>(name, take, help)->type_name(type);
    };
    add_output_options(application(), options_.output);
    add("--op", "sum|min|max", "What to scan with; sum if not given",
        [this](const std::string& text) { options_.operation = parse_scan_operation(text); });
    add("--axis", "K",
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
    add_storage_options(application(), options_.storage);
  }

  Report make_report(const ScanResult& result) const {
    Report report;
    report.note = run_note(result.report);
    report.text = text(result);
    report.json = json(result);
    report.csv = {csv_columns()};
    const auto add_row = [&](std::string_view statistic, const Value& value) {
      report.csv.push_back(
          csv_row("scan", file_, dataset_, result.input.type, result.report, statistic, value));
    };
    add_row("count", int128{result.count});
    add_row("last", result.last);
    return report;
  }

  std::string text(const ScanResult& result) const {
    return fmt::format("{} {}: {}, {}, {}\n", file_, dataset_, format_text(result.input),
                       extent_text(result.shape), run_text(result.report)) +
           aligned_text(
               {{"output", fmt::format("{} {}: {}", options_.output.path, result.output_dataset,
                                       name_of(result.output_type))},
                {"count", fmt::format("{}", result.count)},
                {"last", to_text(result.last)}}) +
           timings_text(result.report, common_.timings);
  }

  Json json(const ScanResult& result) const {
    Json document = json_head("scan", result.report, file_, dataset_, result.shape, result.input);
    describe_view(document, options_.view, result.input.type, result.value_type);
    if (options_.axis) document["axis"] = *options_.axis;
    document["output_dtype"] = name_of(result.output_type);
    document["results"] = {{"output", options_.output.path},
                           {"output_dataset", result.output_dataset},
                           {"count", json_integer(result.count)},
                           {"last", json_value(result.last)}};
    document["timings"] = timings_json(result.report);
    return document;
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
