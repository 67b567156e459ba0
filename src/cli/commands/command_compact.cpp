#include <fmt/format.h>

#include <string>

#include "cli/commands/command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_arguments.hpp"
#include "cli/options/output_options.hpp"
#include "cli/options/view_options.hpp"
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
    if (options_.view.where.empty() && options_.view.fill_value == "none")
      throw usage_error("the condition is missing", "every element would be kept",
                        "Give --where CONDITION, such as --where '>0', or --fill-value.");
    ReportOutputs outputs(session, common_, {file_, options_.output.path});
    options_.output.command = shell_quoted(session.words);
    const RunSubject subject{"compact", file_, dataset_};
    const CompactResult result =
        progress_monitored(subject, session, common_, outputs, [&](const RunOptions& run) {
          options_.run = run;
          return compact(session.communicator, file_, dataset_, options_);
        });
    outputs.publish([&] { return make_report(result); });
  }

 private:
  Report make_report(const CompactResult& result) const {
    Report report;
    report.note = run_note(result.report);
    report.text = text(result);
    report.json = json(result);
    report.csv = {csv_columns()};
    const auto add_row = [&](std::string_view statistic, std::uint64_t value) {
      report.csv.push_back(csv_row("compact", file_, dataset_, result.input.type, result.report,
                                   statistic, int128{value}));
    };
    add_row("count", result.count);
    add_row("kept", result.kept);
    return report;
  }

  std::string text(const CompactResult& result) const {
    Table table{{"output", fmt::format("{} {}: {}", options_.output.path, result.output_dataset,
                                       name_of(result.output_type))}};
    if (!result.indices_dataset.empty())
      table.push_back(
          {"indices", fmt::format("{} {}: u64", options_.output.path, result.indices_dataset)});
    table.push_back({"count", fmt::format("{}", result.count)});
    table.push_back({"kept", fmt::format("{}", result.kept)});
    return fmt::format("{} {}: {}, {}, {}\n", file_, dataset_, format_text(result.input),
                       extent_text(result.shape), run_text(result.report)) +
           aligned_text(table) + timings_text(result.report, common_.timings);
  }

  Json json(const CompactResult& result) const {
    Json document =
        json_head("compact", result.report, file_, dataset_, result.shape, result.input);
    describe_view(document, options_.view, result.input.type, result.output_type);
    document["output_dtype"] = name_of(result.output_type);
    Json& results = document["results"] = {{"output", options_.output.path},
                                           {"output_dataset", result.output_dataset},
                                           {"count", json_integer(result.count)},
                                           {"kept", json_integer(result.kept)}};
    if (!result.indices_dataset.empty()) results["indices_dataset"] = result.indices_dataset;
    document["timings"] = timings_json(result.report);
    return document;
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
