#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_arguments.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/output_options.hpp"
#include "cli/options/view_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/several_report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<NanPolicy> nan_policies[] = {{"propagate", NanPolicy::propagate},
                                              {"skip", NanPolicy::skip}};

constexpr const char* axes_schema = "warpfold.reduce-axis/1";
constexpr const char* axes_group = "Along axes";

class ReduceCommand : public Command {
 public:
  explicit ReduceCommand(CLI::App& program)
      : Command(program, "reduce", "Reduce a dataset to its statistics, in one pass") {
    add_dataset_arguments(application(), arguments_);
    add_statistics_options();
    add_axes_options();
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
  }

  void run(const Session& session) override {
    check(arguments_);
    check_output_options();
    std::vector<std::string> files{arguments_.file};
    if (along_axes()) {
      files.push_back(options_.output.path);
      options_.output.command = shell_quoted(session.words);
      if (application().count("--ops") == 0) options_.statistics = {Statistic::sum};
    }
    ReportOutputs outputs(session, common_, files);
    if (arguments_.several())
      run_several(session, outputs);
    else
      run_one(session, outputs);
  }

 private:
  using Outcomes = std::vector<DatasetOutcome<ReduceResult>>;

  bool along_axes() const { return !options_.axes.empty(); }

  void check_output_options() const {
    if (along_axes()) {
      if (arguments_.several())
        throw usage_error("--axis reduces one dataset at a time", "several are asked for",
                          "Name one dataset.");
      return require_output(options_.output, "--axis makes datasets");
    }
    if (!options_.output.path.empty() || options_.output_type || options_.output.force ||
        options_.keep_dimensions)
      throw usage_error("-o, --output-type, --keepdims and --force need --axis",
                        "without it the results are numbers, not datasets",
                        "Name the axes with --axis, or write a report with --json or --csv.");
  }

  void run_one(const Session& session, ReportOutputs& outputs) {
    const RunSubject subject{"reduce", arguments_.file, arguments_.dataset()};
    const ReduceResult result =
        progress_monitored(subject, session, common_, outputs, [&](const RunOptions& run) {
          options_.run = run;
          return reduce(session.communicator, arguments_.file, arguments_.dataset(), options_);
        });
    outputs.publish([&] { return make_report(result); });
  }

  void run_several(const Session& session, ReportOutputs& outputs) {
    const RunSubject subject{"reduce", arguments_.file, ""};
    const Outcomes outcomes =
        progress_monitored(subject, session, common_, outputs, [&](const RunOptions& run) {
          options_.run = run;
          return reduce(session.communicator, arguments_.file, arguments_.datasets, options_);
        });
    outputs.publish([&] { return make_report(outcomes); });
  }

  void add_statistics_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application().add_option_function<std::string>(name, take, help)->type_name(type);
    };
    add("--ops", "NAME,...",
        "count, sum, mean, var, std, min, max, argmin, argmax, l1, l2, linf, nan_count, inf_count, "
        "or all; count,sum,min,max,mean,std if not given",
        [this](const std::string& text) { options_.statistics = parse_statistics(text); });
    add("--nan", "propagate|skip", "What NaN elements do; propagate if not given",
        [this](const std::string& text) {
          options_.summary.nan = parse_choice("--nan", text, nan_policies);
        });
    add("--overflow", "error|wrap",
        "Sums of integers: exact (error), or modulo 2^width of their type (with --axis, of the "
        "output's); error if not given",
        [this](const std::string& text) { options_.summary.overflow = parse_overflow(text); });
    add("--ddof", "N", "var and std divide by count - N; 0 if not given",
        [this](const std::string& text) {
          constexpr std::uint64_t maximum = std::numeric_limits<std::int64_t>::max();
          options_.summary.ddof = parse_integer("--ddof", text, 0, maximum);
        });
  }

  void add_axes_options() {
    const auto add = [this](const char* name, const char* type, const char* help, auto&& take) {
      application()
          .add_option_function<std::string>(name, take, help)
          ->type_name(type)
          ->group(axes_group);
    };
    add("--axis", "K,...",
        "Reduce along these dimensions alone, as NumPy's axis, into a dataset of OUT; negative "
        "ones count from the last; --ops is sum if not given",
        [this](const std::string& text) { options_.axes = parse_axes("--axis", text); });
    application()
        .add_flag("--keepdims", options_.keep_dimensions,
                  "Leave these dimensions in the output, with extent 1, as NumPy's keepdims")
        ->group(axes_group);
    add_output_options(application(), options_.output,
                       ", or for several --ops the group of a dataset for each", axes_group);
    add("--output-type", "TYPE",
        "Of sums, means and the like; if not given, floats keep their type, sums of integers get "
        "64 bits and everything else of them f64",
        [this](const std::string& text) { options_.output_type = parse_element_type(text); });
  }

  Report make_report(const ReduceResult& result) const {
    Report report;
    report.note = run_note(result.report);
    report.text = text(result);
    report.json = json(result);
    report.csv = {csv_columns()};
    if (along_axes())
      add_output_rows(report.csv, result);
    else
      add_rows(report.csv, {arguments_.dataset(), "", result});
    return report;
  }

  Report make_report(const Outcomes& outcomes) const {
    Report report =
        several_report("reduce", arguments_.file, outcomes, options_.view, results_json);
    report.csv = {csv_columns()};
    for (const auto& outcome : outcomes)
      if (outcome.skipped.empty())
        add_rows(report.csv, outcome);
      else
        report.csv.push_back(skipped_row("reduce", arguments_.file, outcome.dataset,
                                         run_of(outcomes), outcome.skipped));
    report.text = text(outcomes);
    return report;
  }

  std::string text(const ReduceResult& result) const {
    Table table;
    for (const auto& [statistic, value] : result.summary)
      table.push_back({std::string(name_of(statistic)), to_text(value)});
    for (const AxisOutput& each : result.outputs)
      table.push_back({std::string(name_of(each.statistic)),
                       fmt::format("{} {}: {}, {}", options_.output.path, each.dataset,
                                   name_of(each.type), extent_text(result.output_shape))});
    return fmt::format("{} {}: {}, {}, {}\n", arguments_.file, arguments_.dataset(),
                       format_text(result.format), extent_text(result.shape),
                       run_text(result.report)) +
           aligned_text(table) + timings_text(result.report, common_.timings);
  }

  /// One row for each dataset.
  std::string text(const Outcomes& outcomes) const {
    Table table{{"dataset", "type", "shape"}};
    for (const Statistic statistic : options_.statistics)
      table.front().emplace_back(name_of(statistic));
    std::string timings;
    for (const auto& [dataset, skipped, result] : outcomes) {
      if (!skipped.empty()) continue;
      auto& row = table.emplace_back(
          std::vector<std::string>{dataset, format_text(result.format), shape_text(result.shape)});
      for (const auto& [statistic, value] : result.summary) row.push_back(to_text(value));
      timings += named_timings_text(dataset, result.report, common_.timings);
    }
    return several_head(arguments_.file, outcomes) + aligned_text(table) + skipped_text(outcomes) +
           timings;
  }

  Json json(const ReduceResult& result) const {
    Json document = json_head("reduce", result.report, arguments_.file, arguments_.dataset(),
                              result.shape, result.format);
    describe_view(document, options_.view, result.format.type, result.value_type);
    if (along_axes()) {
      document["schema"] = axes_schema;
      document["axis"] = result.axes;
    }
    document["results"] = along_axes() ? outputs_json(result) : results_json(result);
    document["timings"] = timings_json(result.report);
    return document;
  }

  Json outputs_json(const ReduceResult& result) const {
    Json datasets = Json::object();
    for (const AxisOutput& each : result.outputs)
      datasets[std::string(name_of(each.statistic))] = {{"dataset", each.dataset},
                                                        {"dtype", name_of(each.type)}};
    return {{"output", options_.output.path},
            {"output_shape", result.output_shape},
            {"datasets", std::move(datasets)}};
  }

  static Json results_json(const ReduceResult& result) {
    Json results = Json::object();
    for (const auto& [statistic, value] : result.summary)
      results[std::string(name_of(statistic))] = json_value(value);
    return results;
  }

  void add_rows(Table& csv, const DatasetOutcome<ReduceResult>& outcome) const {
    for (const auto& [statistic, value] : outcome.result.summary)
      csv.push_back(csv_row("reduce", arguments_.file, outcome.dataset, outcome.result.format.type,
                            outcome.result.report, name_of(statistic), value));
  }

  /// Adds a row for each statistic, its value being the dataset that holds it.
  void add_output_rows(Table& csv, const ReduceResult& result) const {
    for (const AxisOutput& each : result.outputs) {
      auto& row = csv.emplace_back(csv_row("reduce", arguments_.file, arguments_.dataset(),
                                           result.format.type, result.report,
                                           name_of(each.statistic), Value{}));
      row[row.size() - 2] = options_.output.path + ":" + each.dataset;
    }
  }

  DatasetArguments arguments_;
  ReduceOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_reduce_command(CLI::App& program) {
  return std::make_unique<ReduceCommand>(program);
}

}  // namespace warpfold::cli
