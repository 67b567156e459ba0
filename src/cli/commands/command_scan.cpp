#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* examples = R"(warpfold scan topo.nc topo -o totals.h5
warpfold scan year.nc temp --axis time -o running.nc --chunks auto --deflate)";

class ScanCommand : public RowsCommand<ScanOptions, ScanResult> {
 public:
  explicit ScanCommand(CLI::App& program)
      : RowsCommand(program, "scan", "Write the prefix sums, minima or maxima of datasets") {
    add_dataset_arguments(application(), arguments_);
    add_scan_options();
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
    show_examples(examples);
  }

  void run(const Session& session) override {
    take_files(arguments_, options_.view, mpi::Communicator(session.communicator));
    require_output(options_.output);
    options_.output.command = shell_quoted(session.words);
    compute_and_report(session, options_.output.path,
                       [](const auto&... of) { return scan(of...); });
  }

 private:
  void add_scan_options() {
    add_output_options(application(), options_.output);
    add("--op", names_of(all_scan_operations), "What to scan with; sum if not given",
        [this](const std::string& text) { options_.operation = parse_scan_operation(text); });
    add("--axis", "K|NAME",
        "Scan along this dimension alone; as NumPy's cumsum, a negative one counts from the last",
        [this](const std::string& text) {
          options_.axis = parse_axis("--axis", text, "a scan goes along one axis");
        });
    add("--output-type", names_of(all_element_types),
        "The output's type; if not given, sums of integers get 64 bits and everything else keeps "
        "its type",
        [this](const std::string& text) { options_.output_type = parse_element_type(text); })
        ->option_text("TYPE");
    add("--overflow", overflow_policies,
        "What integers beyond the output's type do; error if not given", options_.overflow);
    application().add_flag("--exclusive", options_.exclusive, "Leave out each place's own element");
    application().add_flag(
        "--offsets", options_.offsets,
        "Sums of N elements as N + 1 offsets; in one dimension: 0, the sum of the first element, "
        "of the first two, up to that of all");
    add_storage_options(application(), options_.storage);
  }

  std::string lines(const ScanResult& result) const override {
    return aligned_text(
        {{"output", fmt::format("{} {}", options_.output.path, output_text(result))},
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
    Json members;
    if (result.axis) members["axis"] = *result.axis;
    if (!result.axis_name.empty()) members["axis_name"] = result.axis_name;
    members["output_dtype"] = name_of(result.output_type);
    members["output_shape"] = result.output_shape;
    members["results"] = {{"output", options_.output.path},
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
