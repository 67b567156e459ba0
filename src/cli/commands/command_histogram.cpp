#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "core/results/histogram_bins.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::cli {
namespace {

constexpr double widest_bar = 40;

std::vector<double> parse_reals(std::string_view option, std::string_view text) {
  std::vector<double> numbers;
  for (const std::string& word : parse_names(option, text))
    numbers.push_back(parse_real(option, word));
  return numbers;
}

std::uint64_t parse_number_of_bins(std::string_view text) {
  try {
    return parse_integer("--bins", text, 1, max_histogram_bins);
  } catch (const Error& error) {
    throw usage_error(error.problem(), error.why(),
                      fmt::format("Give a number of bins, 1 to {}, or two or more edges, commas "
                                  "between them.",
                                  max_histogram_bins));
  }
}

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

constexpr const char* examples =
    R"(warpfold histogram topo.nc topo --bins -11000,-200,0,500,9000
warpfold histogram year.nc temp --bins 10 --range 200,330)";

class HistogramCommand : public DatasetCommand<HistogramOptions, HistogramResult> {
 public:
  explicit HistogramCommand(CLI::App& program)
      : DatasetCommand(program, "histogram", "Count a dataset's values by bins") {
    add_dataset_arguments(application(), arguments_);
    add("--bins", "N|EDGE,...",
        "How many bins of equal width, or the bins' edges; two or more rising numbers. 10 bins if "
        "not given",
        [this](const std::string& text) { take_bins(text); });
    add("--range", "FROM,TO",
        "Where N bins begin and end; the least and the greatest finite value if not given",
        [this](const std::string& text) { take_range(text); });
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
    show_examples(examples);
  }

  void run(const Session& session) override {
    take_files(arguments_, options_.view, mpi::Communicator(session.communicator));
    if (options_.range && !options_.edges.empty())
      throw usage_error("both --range and the edges of bins are given", "",
                        "Leave out --range, or give --bins a number.");
    compute_and_report(session, "", [](const auto&... of) { return histogram(of...); });
  }

 private:
  void take_bins(const std::string& text) {
    if (text.find(',') != std::string::npos)
      options_.edges = parse_reals("--bins", text);
    else
      options_.bins = parse_number_of_bins(text);
  }

  void take_range(const std::string& text) {
    const std::vector<double> ends = parse_reals("--range", text);
    if (ends.size() != 2)
      throw usage_error("bad --range '" + text + "'", "it has no two ends",
                        "Give two numbers: --range 0,100.");
    options_.range.emplace(ends[0], ends[1]);
  }

  Report make_report(const HistogramResult& result) const override {
    Report report =
        dataset_report(run_on(arguments_.dataset(), result), options_.view, bins_text(result),
                       {{"results", results_json(result)}}, common_.timings);
    report.csv = {csv_header()};
    add_rows(report.csv, {arguments_.dataset(), "", result}, result.report);
    return report;
  }

  Report make_report(const Outcomes& outcomes) const override {
    Report report = several_report("histogram", arguments_.file, outcomes, options_.view,
                                   [](const HistogramResult& result) {
                                     return Json{{"results", results_json(result)}};
                                   });
    report.text = several_head(arguments_.file, outcomes);
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
      csv.push_back({"histogram", arguments_.file, outcome.dataset,
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
