#include <fmt/format.h>

#include <string>

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
    add_dataset_arguments(application(), file_, dataset_);
    add_output_options(application(), options_.output);
    application().add_flag("--indices", options_.indices,
                           "Write the flat indices of what is kept, too, to DATASET_indices");
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
  }

  void run(const Session& session) override {
    require_output(options_.output);
    if (options_.view.where.empty() && options_.view.mask.empty() &&
        (options_.view.fill_value.empty() || options_.view.fill_value == "none"))
      throw usage_error("the condition is missing", "every element would be kept",
                        "Give --where CONDITION, such as --where '>0', --fill-value or --mask.");
    options_.output.command = shell_quoted(session.words);
    const auto compute = [&](const RunOptions& run) {
      options_.run = run;
      return compact(session.communicator, file_, dataset_, options_);
    };
    run_and_report({"compact", file_, dataset_}, session, common_,
                   {file_, {{dataset_}}, options_.output.path, options_.view.mask}, compute,
                   [&](const CompactResult& result) { return make_report(result); });
  }

 private:
  Report make_report(const CompactResult& result) const {
    const DatasetRun run{"compact",     file_,         dataset_,
                         result.shape,  result.input,  result.output_type,
                         result.report, result.applied};
    const std::string count = fmt::format("{}", result.count);
    const std::string kept = fmt::format("{}", result.kept);
    Table lines{{"output", fmt::format("{} {}: {}", options_.output.path, result.output_dataset,
                                       name_of(result.output_type))}};
    Json members;
    members["output_dtype"] = name_of(result.output_type);
    Json& results = members["results"] = {{"output", options_.output.path},
                                          {"output_dataset", result.output_dataset},
                                          {"count", json_integer(result.count)},
                                          {"kept", json_integer(result.kept)}};
    if (!result.indices_dataset.empty()) {
      lines.push_back(
          {"indices", fmt::format("{} {}: u64", options_.output.path, result.indices_dataset)});
      results["indices_dataset"] = result.indices_dataset;
    }
    lines.push_back({"count", count});
    lines.push_back({"kept", kept});
    Report report =
        dataset_report(run, options_.view, aligned_text(lines), members, common_.timings);
    report.csv = {csv_columns()};
    add_rows(report.csv, run, {{"count", count}, {"kept", kept}});
    return report;
  }

  std::string file_;
  std::string dataset_;
  CompactOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Command> make_compact_command(CLI::App& program) {
  return std::make_unique<CompactCommand>(program);
}

}  // namespace warpfold::cli
