#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/axis_reduction.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_arguments.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/view_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/several_report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<NanPolicy> nan_policies[] = {{"propagate", NanPolicy::propagate},
                                              {"skip", NanPolicy::skip}};
class ReduceCommand : public Command {
 public:
  explicit ReduceCommand(CLI::App& program)
      : Command(program, "reduce", "Reduce a dataset to its statistics, in one pass") {
    add_dataset_arguments(application(), arguments_);
    add_statistics_options();
    axis_.emplace(application());
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
  }

  void run(const Session& session) override {
    check(arguments_);
    if (axis_->wanted()) return run_along_axes(session);
    axis_->require_unused();
    ReportOutputs outputs(session, common_, {arguments_.file});
    if (arguments_.several())
      run_several(session, outputs);
    else
      run_one(session, outputs);
  }

 private:
  using Outcomes = std::vector<DatasetOutcome<ReduceResult>>;

  void run_along_axes(const Session& session) {
    if (arguments_.several())
      throw usage_error("--axis reduces one dataset at a time", "several are asked for",
                        "Name one dataset.");
    AxisReduction::Request request{arguments_.file, arguments_.dataset(), std::nullopt,
                                   options_.summary, options_.view};
    if (application().count("--ops") > 0) request.statistics = options_.statistics;
    axis_->run(session, request, common_);
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

  Report make_report(const ReduceResult& result) const {
    Report report;
    report.note = run_note(result.report);
    report.text = text(result);
    report.json = json(result);
    report.csv = {csv_columns()};
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
    document["results"] = results_json(result);
    document["timings"] = timings_json(result.report);
    return document;
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

  DatasetArguments arguments_;
  ReduceOptions options_;
  std::optional<AxisReduction> axis_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_reduce_command(CLI::App& program) {
  return std::make_unique<ReduceCommand>(program);
}

}  // namespace warpfold::cli
