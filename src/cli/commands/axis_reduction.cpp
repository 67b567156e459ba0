#include "cli/commands/axis_reduction.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/options/option_values.hpp"
#include "cli/options/view_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/run/watched_run.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* schema = "warpfold.reduce-axis/1";

std::string text_of(const AxisReduction::Request& request, const AxisReduceOptions& options,
                    const AxisReduceResult& result) {
  Table table;
  for (const AxisOutput& each : result.outputs)
    table.push_back({std::string(name_of(each.statistic)),
                     fmt::format("{} {}: {}, {}", options.output, each.dataset, name_of(each.type),
                                 extent_text(result.output_shape))});
  return fmt::format("{} {}: {}, {}, {}\n", request.file, request.dataset,
                     format_text(result.input), extent_text(result.shape),
                     run_text(result.report)) +
         aligned_text(table);
}

Json json_of(const AxisReduction::Request& request, const AxisReduceOptions& options,
             const AxisReduceResult& result) {
  Json document =
      json_head("reduce", result.report, request.file, request.dataset, result.shape, result.input);
  describe_view(document, request.view, result.input.type, result.value_type);
  document["schema"] = schema;
  document["axis"] = result.axes;
  Json datasets = Json::object();
  for (const AxisOutput& each : result.outputs)
    datasets[std::string(name_of(each.statistic))] = {{"dataset", each.dataset},
                                                      {"dtype", name_of(each.type)}};
  document["results"] = {{"output", options.output},
                         {"output_shape", result.output_shape},
                         {"datasets", std::move(datasets)}};
  document["timings"] = timings_json(result.report);
  return document;
}

/// A row for each statistic, its value being the dataset that holds it.
Table csv_of(const AxisReduction::Request& request, const AxisReduceOptions& options,
             const AxisReduceResult& result) {
  Table table{csv_columns()};
  for (const AxisOutput& each : result.outputs) {
    std::vector<std::string> row =
        csv_row("reduce", request.file, request.dataset, result.input.type, result.report,
                name_of(each.statistic), Value{});
    row[row.size() - 2] = options.output + ":" + each.dataset;
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace

AxisReduction::AxisReduction(CLI::App& application) {
  const auto add = [&](const char* name, const char* type, const char* help, auto&& take) {
    application.add_option_function<std::string>(name, take, help)
        ->type_name(type)
        ->group("Along axes");
  };
  add("--axis", "K,...",
      "Reduce along these dimensions alone, as NumPy's axis, into a dataset of OUT; negative ones "
      "count from the last; --ops is sum if not given",
      [this](const std::string& text) { options_.axes = parse_axes("--axis", text); });
  application
      .add_flag("--keepdims", options_.keep_dimensions,
                "Leave these dimensions in the output, with extent 1, as NumPy's keepdims")
      ->group("Along axes");
  add("-o,--output", "OUT[:DATASET]",
      "The file to make, and the dataset in it (the last colon separates), or for several --ops "
      "the group of a dataset for each; the input's name if not given",
      [this](const std::string& text) {
        OutputName name = parse_output_name("-o", text);
        options_.output = std::move(name.file);
        options_.output_dataset = std::move(name.dataset);
      });
  add("--output-type", "TYPE",
      "Of sums, means and the like; if not given, floats keep their type, sums of integers get 64 "
      "bits and everything else of them f64",
      [this](const std::string& text) { options_.output_type = parse_element_type(text); });
  application.add_flag("--force", options_.force, "Replace an existing output file")
      ->group("Along axes");
}

void AxisReduction::require_unused() const {
  if (!options_.output.empty() || options_.output_type || options_.force ||
      options_.keep_dimensions)
    throw usage_error("-o, --output-type, --keepdims and --force need --axis",
                      "without it the results are numbers, not datasets",
                      "Name the axes with --axis, or write a report with --json or --csv.");
}

void AxisReduction::run(const Session& session, const Request& request,
                        const CommonOptions& common) {
  if (options_.output.empty())
    throw usage_error("the output is missing", "--axis makes datasets",
                      "Name it with -o OUT or -o OUT:DATASET.");
  ReportOutputs outputs(session, common, {request.file, options_.output});
  if (request.statistics) options_.statistics = *request.statistics;
  options_.summary = request.summary;
  options_.view = request.view;
  options_.history = shell_quoted(session.words);
  const RunSubject subject{"reduce", request.file, request.dataset};
  const AxisReduceResult result =
      progress_monitored(subject, session, common, outputs, [&](const RunOptions& run) {
        options_.run = run;
        return reduce_axes(session.communicator, request.file, request.dataset, options_);
      });
  outputs.publish([&] {
    return Report{text_of(request, options_, result) + timings_text(result.report, common.timings),
                  json_of(request, options_, result), csv_of(request, options_, result),
                  run_note(result.report)};
  });
}

}  // namespace warpfold::cli
