#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/report.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"

namespace warpfold::cli {

/// Of the run that all outcomes share.
template <class Result>
const RunReport& run_of(const std::vector<DatasetOutcome<Result>>& outcomes) {
  for (const auto& outcome : outcomes)
    if (outcome.skipped.empty()) return outcome.result.report;
  throw Error("nothing to report", "all datasets were skipped", "");
}

/// "skipped a: its type is a string", a line for each.
template <class Result>
std::string skipped_text(const std::vector<DatasetOutcome<Result>>& outcomes) {
  std::string text;
  for (const auto& outcome : outcomes)
    if (!outcome.skipped.empty())
      text += "skipped " + outcome.dataset + ": " + outcome.skipped + "\n";
  return text;
}

/// "FILE: 3 of 4 datasets, 1 rank on 1 host, cpu: 2 threads".
template <class Result>
std::string several_head(const std::string& file,
                         const std::vector<DatasetOutcome<Result>>& outcomes) {
  const auto read = std::count_if(outcomes.begin(), outcomes.end(),
                                  [](const auto& outcome) { return outcome.skipped.empty(); });
  return fmt::format("{}: {} of {} datasets, {}\n", file, read, outcomes.size(),
                     run_text(run_of(outcomes)));
}

/// A dataset's timings_text() under its name.
inline std::string named_timings_text(const std::string& dataset, const RunReport& run,
                                      bool wanted) {
  return wanted ? "\n" + dataset + timings_text(run, wanted) : "";
}

/// The JSON of a report on several datasets of a file, seen as `view` says; `results_json(result)`
/// are one's results. Its text and CSV are left to the caller.
template <class Result, class ResultsJson>
Report several_report(const std::string& command, const std::string& file,
                      const std::vector<DatasetOutcome<Result>>& outcomes, const ViewOptions& view,
                      const ResultsJson& results_json) {
  Report report;
  const RunReport& run = run_of(outcomes);
  report.note = run_note(run);
  report.json = json_head(command, run, file);
  Json& datasets = report.json["datasets"] = Json::array();
  for (const auto& outcome : outcomes) {
    Json member;
    member["dataset"] = outcome.dataset;
    if (outcome.skipped.empty()) {
      add_shape(member, outcome.result.shape, outcome.result.format);
      describe_view(member, view, outcome.result.format.type, outcome.result.value_type);
      member["results"] = results_json(outcome.result);
      member["timings"] = timings_json(outcome.result.report);
    } else {
      member["skipped"] = outcome.skipped;
    }
    datasets.push_back(std::move(member));
  }
  return report;
}

}  // namespace warpfold::cli
