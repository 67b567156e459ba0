#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* scan_examples = R"(warpfold scan topo.nc topo -o totals.h5
warpfold scan year.nc temp --axis time -o running.nc --chunks auto --deflate)";

class ScanCommand : public RowsCommand<ScanRequest> {
 public:
  explicit ScanCommand(CLI::App& program)
      : RowsCommand(program, "scan", "Write the prefix sums, minima or maxima of datasets",
                    scan_examples) {}

 private:
  std::string lines(const ScanResult& result) const override {
    return aligned_text(
        {{"output", fmt::format("{} {}", request_.options.output.path, output_text(result))},
         {"count", fmt::format("{}", result.count)},
         {"last", to_text(result.last)}});
  }

  std::vector<std::string> columns() const override { return {"output", "last"}; }

  std::vector<std::string> row(const ScanResult& result) const override {
    return {output_text(result), to_text(result.last)};
  }

  static std::string output_text(const ScanResult& result) {
    return fmt::format("{}: {}, {}", result.output_dataset, name_of(result.output_type),
                       extent_text(result.output_shape));
  }

  Rows rows(const ScanResult& result) const override {
    return {{"count", fmt::format("{}", result.count)}, {"last", to_text(result.last, "")}};
  }

  Json members_of(const ScanResult& result) const override {
    Json members{{"operation", name_of(request_.options.operation)},
                 {"exclusive", request_.options.exclusive},
                 {"overflow", word_of(request_.options.overflow, overflow_policies)}};
    if (result.axis) members["axis"] = *result.axis;
    if (!result.axis_name.empty()) members["axis_name"] = result.axis_name;
    members["output_dtype"] = name_of(result.output_type);
    members["output_shape"] = result.output_shape;
    members["results"] = {{"output", request_.options.output.path},
                          {"output_dataset", result.output_dataset},
                          {"count", json_integer(result.count)},
                          {"last", json_value(result.last)}};
    return members;
  }
};

}  // namespace

std::unique_ptr<Command> make_scan_command(CLI::App& program) {
  return std::make_unique<ScanCommand>(program);
}

}  // namespace warpfold::cli
