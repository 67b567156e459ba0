#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/compact.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

class CompactCommand : public Command {
 public:
  explicit CompactCommand(CLI::App& program)
      : Command(program, "compact", "Write the elements that meet conditions, in their order") {
    add_dataset_arguments(application(), arguments_);
    add_output_options(application(), options_.output);
    application().add_flag("--indices", options_.indices,
                           "Write the flat indices of what is kept, too, to DATASET_indices");
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
  }

  void run(const Session& session) override {
    take_files(arguments_, options_.view, mpi::Communicator(session.communicator));
    require_output(options_.output);
    if (options_.view.where.empty() && options_.view.mask.empty() &&
        (options_.view.fill_value.empty() || options_.view.fill_value == "none"))
      throw usage_error("the condition is missing", "every element would be kept",
                        "Give --where CONDITION, such as --where '>0', --fill-value or --mask.");
    options_.output.command = shell_quoted(session.words);
    if (arguments_.several())
      compact_all(session, "", arguments_.datasets);
    else
      compact_all(session, arguments_.dataset(), arguments_.dataset());
  }

 private:
  using Outcomes = std::vector<DatasetOutcome<CompactResult>>;

  /// Compacts one dataset, `name`, or a choice of several.
  template <class Datasets>
  void compact_all(const Session& session, const std::string& name, const Datasets& datasets) {
    const auto compute = [&](const RunOptions& run) {
      options_.run = run;
      return compact(session.communicator, arguments_.file, datasets, options_);
    };
    run_and_report({"compact", arguments_.file, name}, session, common_,
                   {arguments_.file, arguments_.datasets, options_.output.path, options_.view.mask,
                    options_.view.files},
                   compute, [&](const auto& result) { return make_report(result); });
  }

  Report make_report(const CompactResult& result) const {
    const DatasetRun run = run_on(arguments_.dataset(), result);
    Table lines{{"output", fmt::format("{} {}: {}", options_.output.path, result.output_dataset,
                                       name_of(result.value_type))}};
    if (!result.indices_dataset.empty())
      lines.push_back(
          {"indices", fmt::format("{} {}: u64", options_.output.path, result.indices_dataset)});
    for (const auto& [what, number] : rows(result)) lines.push_back({what, number});
    Report report = dataset_report(run, options_.view, aligned_text(lines), members_of(result),
                                   common_.timings);
    report.csv = {csv_columns()};
    add_rows(report.csv, run, rows(result));
    return report;
  }

  Report make_report(const Outcomes& outcomes) const {
    Report report = several_report("compact", arguments_.file, outcomes, options_.view,
                                   [&](const CompactResult& each) { return members_of(each); });
    report.csv = several_csv("compact", arguments_.file, outcomes,
                             [&](Table& csv, const std::string& dataset, const auto& result) {
                               add_rows(csv, run_on(dataset, result), rows(result));
                             });
    report.text = several_text(
        arguments_.file, outcomes, {"output", "count", "kept"},
        [](const CompactResult& result) {
          return std::vector<std::string>{
              fmt::format("{}: {}", result.output_dataset, name_of(result.value_type)),
              fmt::format("{}", result.count), fmt::format("{}", result.kept)};
        },
        common_.timings);
    return report;
  }

  DatasetRun run_on(const std::string& dataset, const CompactResult& result) const {
    return {"compact",     arguments_.file,   dataset,       result.shape,
            result.format, result.value_type, result.report, result.applied};
  }

  static std::vector<std::pair<std::string, std::string>> rows(const CompactResult& result) {
    return {{"count", fmt::format("{}", result.count)}, {"kept", fmt::format("{}", result.kept)}};
  }

  Json members_of(const CompactResult& result) const {
    Json members;
    members["output_dtype"] = name_of(result.value_type);
    Json& results = members["results"] = {{"output", options_.output.path},
                                          {"output_dataset", result.output_dataset},
                                          {"count", json_integer(result.count)},
                                          {"kept", json_integer(result.kept)}};
    if (!result.indices_dataset.empty()) results["indices_dataset"] = result.indices_dataset;
    return members;
  }

  DatasetArguments arguments_;
  CompactOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_compact_command(CLI::App& program) {
  return std::make_unique<CompactCommand>(program);
}

}  // namespace warpfold::cli
