#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::cli {
namespace {

constexpr double widest_bar = 40;

/// Draws a share of the fullest bin's length.
std::string bar(std::uint64_t count, std::uint64_t maximum) {
  if (count == 0) return "";
  const double length = widest_bar * static_cast<double>(count) / static_cast<double>(maximum);
  return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(length)), '#');
}

std::string bins_text(const HistogramResult& result) {
  const std::uint64_t maximum = *std::max_element(result.counts.begin(), result.counts.end());
  Table table{{"from", "to", "count"}};
  for (std::size_t bin = 0; bin < result.counts.size(); ++bin)
    table.push_back({to_text(result.edges[bin]), to_text(result.edges[bin + 1]),
                     fmt::format("{}", result.counts[bin]), bar(result.counts[bin], maximum)});
  return aligned_text(table) +
         fmt::format("below {}, above {}, NaN {}\n", result.below, result.above, result.nan);
}

Json results_json(const HistogramResult& result) {
  Json counts = Json::array();
  for (const std::uint64_t count : result.counts) counts.push_back(json_integer(count));
  return {{"edges", result.edges},
          {"counts", std::move(counts)},
          {"below", json_integer(result.below)},
          {"above", json_integer(result.above)},
          {"nan_count", json_integer(result.nan)}};
}

constexpr const char* histogram_examples =
    R"(warpfold histogram topo.nc topo --bins -11000,-200,0,500,9000
warpfold histogram year.nc temp --bins 10 --range 200,330)";

class HistogramCommand : public DatasetCommand<HistogramRequest> {
 public:
  explicit HistogramCommand(CLI::App& program)
      : DatasetCommand(program, "histogram", "Count a dataset's values by bins",
                       histogram_examples) {}

 private:
  Report make_report(const HistogramResult& result) const override {
    Report report = dataset_report(run_on(request_.arguments.dataset(), result),
                                   request_.options.view, common_.quiet ? "" : bins_text(result),
                                   {{"results", results_json(result)}}, common_.timings);
    report.csv = {csv_header()};
    if (!common_.csv.empty())
      add_rows(report.csv, {request_.arguments.dataset(), "", result}, result.report);
    return report;
  }

  Report make_report(const Outcomes& outcomes) const override {
    Report report =
        several_report("histogram", request_.arguments.file, outcomes, request_.options.view,
                       !common_.json.empty(), [](const HistogramResult& result) {
                         return Json{{"results", results_json(result)}};
                       });
    report.text = several_head(request_.arguments.file, outcomes);
    report.csv = {csv_header()};
    for (const auto& outcome : outcomes) {
      add_rows(report.csv, outcome, run_of(outcomes));
      if (!outcome.skipped.empty()) continue;
      report.text +=
          fmt::format("\n{}: {}, {}\n", outcome.dataset, format_text(outcome.result.format),
                      extent_text(outcome.result.shape)) +
          applied_line(outcome.result.applied) + bins_text(outcome.result) +
          timings_text(outcome.result.report, common_.timings);
    }
    report.text += skipped_text(outcomes);
    return report;
  }

  static std::vector<std::string> csv_header() {
    return {"command", "file", "dataset", "dtype", "ranks",  "backend",
            "what",    "from", "to",      "count", "seconds"};
  }

  void add_rows(Table& csv, const DatasetOutcome<HistogramResult>& outcome,
                const RunReport& run) const {
    const HistogramResult& result = outcome.result;
    const bool skipped = !outcome.skipped.empty();
    const auto add = [&](const std::string& what, const std::string& from, const std::string& to,
                         const std::string& count) {
      csv.push_back({"histogram", request_.arguments.file, outcome.dataset,
                     skipped ? "" : std::string(name_of(result.format.type)),
                     fmt::format("{}", run.ranks), run.backend, what, from, to, count,
                     skipped ? "" : to_text(result.report.seconds)});
    };
    if (skipped) return add("skipped: " + outcome.skipped, "", "", "");
    for (std::size_t bin = 0; bin < result.counts.size(); ++bin)
      add("bin", to_text(result.edges[bin]), to_text(result.edges[bin + 1]),
          fmt::format("{}", result.counts[bin]));
    add("below", "", to_text(result.edges.front()), fmt::format("{}", result.below));
    add("above", to_text(result.edges.back()), "", fmt::format("{}", result.above));
    add("nan", "", "", fmt::format("{}", result.nan));
  }
};

}  // namespace

std::unique_ptr<Command> make_histogram_command(CLI::App& program) {
  return std::make_unique<HistogramCommand>(program);
}

}  // namespace warpfold::cli
