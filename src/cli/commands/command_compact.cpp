#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "warpfold/compact.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* examples = R"(warpfold compact topo.nc topo -o high.h5 --where '>4000'
warpfold compact topo.nc topo -o ocean.h5 --where '<0' --indices)";

class CompactCommand : public RowsCommand<CompactOptions, CompactResult> {
 public:
  explicit CompactCommand(CLI::App& program)
      : RowsCommand(program, "compact", "Write the elements that meet conditions, in their order") {
    add_dataset_arguments(application(), arguments_);
    add_output_options(application(), options_.output);
    application().add_flag("--indices", options_.indices,
                           "Write the flat indices of what is kept, too; to DATASET_indices");
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
    show_examples(examples);
  }

  void run(const Session& session) override {
    take_files(arguments_, options_.view, mpi::Communicator(session.communicator));
    require_output(options_.output);
    if (options_.view.where.empty() && options_.view.mask.empty() &&
        (options_.view.fill_value.empty() || options_.view.fill_value == "none"))
      throw usage_error("the condition is missing", "every element would be kept",
                        "Give --where CONDITION, such as --where '>0', --fill-value or --mask.");
    options_.output.command = shell_quoted(session.words);
    compute_and_report(session, options_.output.path,
                       [](const auto&... of) { return compact(of...); });
  }

 private:
  std::string lines(const CompactResult& result) const override {
    Table lines{{"output", fmt::format("{} {}: {}", options_.output.path, result.output_dataset,
                                       name_of(result.value_type))}};
    if (!result.indices_dataset.empty())
      lines.push_back(
          {"indices", fmt::format("{} {}: u64", options_.output.path, result.indices_dataset)});
    for (const auto& [what, number] : rows(result)) lines.push_back({what, number});
    return aligned_text(lines);
  }

  std::vector<std::string> columns() const override { return {"output", "count", "kept"}; }

  std::vector<std::string> row(const CompactResult& result) const override {
    return {fmt::format("{}: {}", result.output_dataset, name_of(result.value_type)),
            fmt::format("{}", result.count), fmt::format("{}", result.kept)};
  }

  Rows rows(const CompactResult& result) const override {
    return {{"count", fmt::format("{}", result.count)}, {"kept", fmt::format("{}", result.kept)}};
  }

  Json members_of(const CompactResult& result) const override {
    Json members;
    members["output_dtype"] = name_of(result.value_type);
    Json& results = members["results"] = {{"output", options_.output.path},
                                          {"output_dataset", result.output_dataset},
                                          {"count", json_integer(result.count)},
                                          {"kept", json_integer(result.kept)}};
    if (!result.indices_dataset.empty()) results["indices_dataset"] = result.indices_dataset;
    return members;
  }
};

}  // namespace

std::unique_ptr<Command> make_compact_command(CLI::App& program) {
  return std::make_unique<CompactCommand>(program);
}

}  // namespace warpfold::cli
