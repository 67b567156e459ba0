#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report/json_writer.hpp"
#include "cli/report/text.hpp"
#include "warpfold/applied_attributes.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::cli {

/// A report is what a command has to tell, in every form in which it may be requested.
struct Report {
  std::string text;  ///< for a reader; lines
  Json json;
  JsonElements json_elements;  ///< elements of `json`; their sources must outlive the report
  Table csv;
  std::vector<std::string> notes;  ///< lines for standard error
  std::optional<Error> failure;    ///< ends the command after the report of the rest
};

/// Makes the first members of every report's JSON, up to the build.
Json json_head(const std::string& command);

/// Makes json_head() with the run's ranks, hosts, devices and backend, and the file that it read.
Json json_head(const std::string& command, const RunReport& run, const std::string& file);

void add_shape(Json& document, const std::vector<std::uint64_t>& shape, ElementFormat format);

/// A dataset run is a run on one dataset as reports tell it whatever the command.
struct DatasetRun {
  std::string command;
  std::string file;
  std::string dataset;
  const DatasetResult& result;
};

Json json_head(const DatasetRun& run);

/// Adds what a view asks for, what was applied, and the type of unpacked values.
void describe_view(Json& document, const ViewOptions& options, const AppliedAttributes& applied,
                   ElementType stored, ElementType values);

/// Returns what was applied: "stored * 0.5 - 20, without -999"; empty for nothing.
std::string applied_text(const AppliedAttributes& applied);

/// Makes a line of applied_text(); none for nothing.
std::string applied_line(const AppliedAttributes& applied);

/// Tells each stage's threads, seconds, bytes and GB/s, and the bottleneck.
Json timings_json(const RunReport& run);

/// Returns what timings_json() tells in lines; nothing unless `wanted`.
std::string timings_text(const RunReport& run, bool wanted);

/// Returns what ran: "4 ranks on 1 host, cuda: 4 x NVIDIA H200".
std::string run_text(const RunReport& run);

/// Lists what a run has to say beside its results: a backend that was not the first choice, a
/// binding that slows it, the notes of its data.
std::vector<std::string> run_notes(const RunReport& run);

/// Names the file that was read, and says how many more were.
std::string files_text(const std::string& file, const ViewOptions& view);

/// Makes the report of a run on one dataset but for its CSV: the `lines` of its text and the
/// `members` of its JSON, "results" among them, are the command's own.
Report dataset_report(const DatasetRun& run, const ViewOptions& view, const std::string& lines,
                      const Json& members, bool timings);

/// Names the columns of a run's CSV.
std::vector<std::string> csv_columns();

/// A result in a CSV.
struct ResultRow {
  std::string statistic;
  std::string value;
  /// Columns of its own, names and cells: its label, or its coordinates.
  std::vector<std::pair<std::string, std::string>> places = {};
};

/// Adds a row to a CSV for each result of a run, and columns that it lacks.
void add_rows(Table& csv, const DatasetRun& run, const std::vector<ResultRow>& results);

/// Makes the CSV's row of a dataset that a run skipped, and why.
std::vector<std::string> skipped_row(std::string_view command, const std::string& file,
                                     const std::string& dataset, const RunReport& run,
                                     const std::string& reason);

/// Finds the report of the run that all outcomes share. Throws Error where all were skipped.
template <class Result>
const RunReport& run_of(const std::vector<DatasetOutcome<Result>>& outcomes) {
  for (const auto& outcome : outcomes)
    if (outcome.skipped.empty()) return outcome.result.report;
  throw Error("nothing to report", "all datasets were skipped", "");
}

/// Returns the run that all outcomes share, with the notes of all, each once.
template <class Result>
RunReport whole_run_of(const std::vector<DatasetOutcome<Result>>& outcomes) {
  RunReport run = run_of(outcomes);
  run.notes.clear();
  std::set<std::string> seen;
  for (const auto& outcome : outcomes)
    for (const std::string& note : outcome.result.report.notes)
      if (seen.insert(note).second) run.notes.push_back(note);
  return run;
}

/// Returns which datasets were skipped, a line for each: "skipped a: its type is a string".
template <class Result>
std::string skipped_text(const std::vector<DatasetOutcome<Result>>& outcomes) {
  std::string text;
  for (const auto& outcome : outcomes)
    if (!outcome.skipped.empty())
      text += "skipped " + outcome.dataset + ": " + outcome.skipped + "\n";
  return text;
}

/// Makes the Error of datasets that were skipped as reading them failed, if any.
template <class Result>
std::optional<Error> failure_of(const std::string& file,
                                const std::vector<DatasetOutcome<Result>>& outcomes) {
  const auto failed = [](const auto& outcome) { return outcome.failed; };
  const auto first = std::ranges::find_if(outcomes, failed);
  if (first == outcomes.end()) return std::nullopt;
  return Error(fmt::format("cannot read {} of {} datasets in '{}'",
                           std::ranges::count_if(outcomes, failed), outcomes.size(), file),
               "the first is '" + first->dataset + "' (" + first->skipped + ")",
               "The report lists all skipped datasets.");
}

/// Makes the first line of several datasets: "FILE: 3 of 4 datasets, 1 rank on 1 host, cpu: 2
/// threads".
template <class Result>
std::string several_head(const std::string& file,
                         const std::vector<DatasetOutcome<Result>>& outcomes) {
  const auto read = std::count_if(outcomes.begin(), outcomes.end(),
                                  [](const auto& outcome) { return outcome.skipped.empty(); });
  return fmt::format("{}: {} of {} datasets, {}\n", file, read, outcomes.size(),
                     run_text(run_of(outcomes)));
}

/// Makes the JSON of one of several datasets: `members_of(result)` are members of its own.
template <class Result, class MembersOf>
Json entry_of(const DatasetOutcome<Result>& outcome, const ViewOptions& view,
              const MembersOf& members_of) {
  Json entry;
  entry["dataset"] = outcome.dataset;
  if (!outcome.skipped.empty()) {
    entry["skipped"] = outcome.skipped;
    return entry;
  }
  const Result& result = outcome.result;
  add_shape(entry, result.shape, result.format);
  describe_view(entry, view, result.applied, result.format.type, result.value_type);
  entry.update(members_of(result));
  entry["timings"] = timings_json(result.report);
  return entry;
}

/// Makes a report on several datasets of a file, seen as `view` says, but for its text and CSV;
/// `members_of(result)` are members of one's entry: its results. Omits the entries unless the JSON
/// is `wanted`.
template <class Result, class MembersOf>
Report several_report(const std::string& command, const std::string& file,
                      const std::vector<DatasetOutcome<Result>>& outcomes, const ViewOptions& view,
                      bool wanted, const MembersOf& members_of) {
  Report report;
  const RunReport run = whole_run_of(outcomes);
  report.notes = run_notes(run);
  report.failure = failure_of(file, outcomes);
  if (!wanted) return report;
  report.json = json_head(command, run, file);
  report.json["datasets"] = Json::array();
  report.json_elements = {"datasets", outcomes.size(), [&outcomes, &view, members_of](auto index) {
                            return entry_of(outcomes[index], view, members_of);
                          }};
  return report;
}

/// Makes the text of a report on several datasets: a row for each, of what all have and of what
/// `row_of(result)` tells in `columns`.
template <class Result, class RowOf>
std::string several_text(const std::string& file,
                         const std::vector<DatasetOutcome<Result>>& outcomes,
                         const std::vector<std::string>& columns, const RowOf& row_of,
                         bool timings) {
  std::string applied;
  std::string times;
  for (const auto& [dataset, skipped, result, failed] : outcomes) {
    if (!skipped.empty()) continue;
    if (const std::string line = applied_line(result.applied); !line.empty())
      applied += dataset + ": " + line;
    if (timings) times += "\n" + dataset + timings_text(result.report, timings);
  }
  const auto visit_rows = [&](const auto& visit) {
    const auto visit_one = [&](std::vector<std::string> row, const std::vector<std::string>& more) {
      row.insert(row.end(), more.begin(), more.end());
      visit(row);
    };
    visit_one({"dataset", "type", "shape"}, columns);
    for (const auto& [dataset, skipped, result, failed] : outcomes)
      if (skipped.empty())
        visit_one({dataset, format_text(result.format), shape_text(result.shape)}, row_of(result));
  };
  return several_head(file, outcomes) + aligned_text_of(visit_rows) + applied +
         skipped_text(outcomes) + times;
}

/// Makes the CSV of a report on several datasets: `add(csv, dataset, result)` adds the rows of one.
template <class Result, class Add>
Table several_csv(const std::string& command, const std::string& file,
                  const std::vector<DatasetOutcome<Result>>& outcomes, const Add& add) {
  Table csv{csv_columns()};
  for (const auto& [dataset, skipped, result, failed] : outcomes)
    if (skipped.empty())
      add(csv, dataset, result);
    else
      csv.push_back(skipped_row(command, file, dataset, run_of(outcomes), skipped));
  return csv;
}

}  // namespace warpfold::cli
