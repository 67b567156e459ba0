#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "warpfold/compact.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* compact_examples = R"(warpfold compact topo.nc topo -o high.h5 --where '>4000'
warpfold compact topo.nc topo -o ocean.h5 --where '<0' --indices)";

class CompactCommand : public RowsCommand<CompactRequest> {
 public:
  explicit CompactCommand(CLI::App& program)
      : RowsCommand(program, "compact", "Write the elements that satisfy conditions, in order",
                    compact_examples) {}

 private:
  std::string lines(const CompactResult& result) const override {
    Table lines{{"output", fmt::format("{} {}: {}", request_.options.output.path,
                                       result.output_dataset, name_of(result.value_type))}};
    if (!result.indices_dataset.empty())
      lines.push_back({"indices", fmt::format("{} {}: u64", request_.options.output.path,
                                              result.indices_dataset)});
    for (const ResultRow& row : rows(result)) lines.push_back({row.statistic, row.value});
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
    Json& results = members["results"] = {{"output", request_.options.output.path},
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
