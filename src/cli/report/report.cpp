#include "cli/report/report.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/report/build_report.hpp"
#include "pipeline/run/bottleneck.hpp"

namespace warpfold::cli {
namespace {

/// Returns GB/s, or nothing where no time was measured.
std::optional<double> rate_of(const StageTiming& timing) {
  if (timing.seconds <= 0) return std::nullopt;
  return static_cast<double>(timing.bytes) / timing.seconds / 1e9;
}

}  // namespace

Json json_head(const std::string& command) {
  const BuildReport build = build_report();
  Json document;
  document["schema"] = "warpfold." + command + "/1";
  document["command"] = command;
  document["version"] = build.version;
  document["build"] = {{"compiler", build.compiler}, {"type", build.build_type},
                       {"cuda", build.cuda},         {"mpi", build.mpi},
                       {"hdf5", build.hdf5},         {"instruction_set", build.instruction_set}};
  return document;
}

Json json_head(const std::string& command, const RunReport& run, const std::string& file) {
  Json document = json_head(command);
  document["ranks"] = run.ranks;
  document["hosts"] = run.hosts;
  document["devices"] = run.devices;
  document["backend"] = run.backend;
  document["file"] = file;
  return document;
}

void add_shape(Json& document, const std::vector<std::uint64_t>& shape, ElementFormat format) {
  document["shape"] = shape;
  document["dtype"] = name_of(format.type);
  document["byte_order"] = byte_order_text(format.order);
}

Json json_head(const DatasetRun& run) {
  Json document = json_head(run.command, run.run, run.file);
  document["dataset"] = run.dataset;
  add_shape(document, run.shape, run.format);
  return document;
}

void describe_view(Json& document, const ViewOptions& options, ElementType stored,
                   ElementType values) {
  if (!options.select.empty()) document["select"] = options.select;
  if (!options.where.empty()) document["where"] = options.where;
  if (options.fill_value != "none") document["fill_value"] = options.fill_value;
  if (options.cf) document["cf"] = true;
  if (values != stored) document["value_type"] = name_of(values);
}

Json timings_json(const RunReport& run) {
  Json stages = Json::object();
  for (const StageTiming& timing : run.stages) {
    const auto rate = rate_of(timing);
    stages[timing.stage] = {{"threads", timing.threads},
                            {"seconds", timing.seconds},
                            {"waiting_seconds", timing.waiting},
                            {"bytes", json_integer(timing.bytes)},
                            {"GB/s", rate ? Json(*rate) : Json()}};
  }
  return {{"seconds", run.seconds},
          {"stages", std::move(stages)},
          {"bottleneck", with_flags(pipeline::measured_bottleneck(run))}};
}

std::string timings_text(const RunReport& run, bool wanted) {
  if (!wanted) return {};
  Table table{{"stage", "threads", "busy s", "waiting s", "bytes a rank", "GB/s a rank"}};
  for (const StageTiming& timing : run.stages) {
    const auto rate = rate_of(timing);
    table.push_back({timing.stage, fmt::format("{}", timing.threads),
                     fmt::format("{:.6f}", timing.seconds), fmt::format("{:.6f}", timing.waiting),
                     fmt::format("{}", timing.bytes), rate ? fmt::format("{:.3f}", *rate) : ""});
  }
  table.push_back({"whole run", "", fmt::format("{:.6f}", run.seconds)});
  const std::string bottleneck = with_flags(pipeline::measured_bottleneck(run));
  return "\n" + aligned_text(table) +
         (bottleneck.empty() ? "" : "bottleneck: " + bottleneck + "\n");
}

std::string run_text(const RunReport& run) {
  return fmt::format("{}, {}: {}", ranks_text(run.ranks, run.hosts), run.backend,
                     devices_text(run.devices));
}

std::string run_note(const RunReport& run) {
  std::string note;
  if (!run.fallback.empty()) note = "the cpu backend is used: " + run.fallback;
  if (!run.binding_note.empty()) note += (note.empty() ? "" : "; ") + run.binding_note;
  return note;
}

Report dataset_report(const DatasetRun& run, const ViewOptions& view, const std::string& lines,
                      const Json& members, bool timings) {
  Report report;
  report.note = run_note(run.run);
  report.text = fmt::format("{} {}: {}, {}, {}\n", run.file, run.dataset, format_text(run.format),
                            extent_text(run.shape), run_text(run.run)) +
                lines + timings_text(run.run, timings);
  report.json = json_head(run);
  describe_view(report.json, view, run.format.type, run.value_type);
  report.json.update(members);
  report.json["timings"] = timings_json(run.run);
  return report;
}

std::vector<std::string> csv_columns() {
  return {"command", "file",      "dataset", "dtype",  "ranks",
          "backend", "statistic", "value",   "seconds"};
}

void add_rows(Table& csv, const DatasetRun& run,
              const std::vector<std::pair<std::string, std::string>>& results) {
  for (const auto& [statistic, value] : results)
    csv.push_back({run.command, run.file, run.dataset, std::string(name_of(run.format.type)),
                   fmt::format("{}", run.run.ranks), run.run.backend, statistic, value,
                   to_text(run.run.seconds)});
}

std::vector<std::string> skipped_row(std::string_view command, const std::string& file,
                                     const std::string& dataset, const RunReport& run,
                                     const std::string& reason) {
  return {std::string(command), file,      dataset, "", fmt::format("{}", run.ranks),
          run.backend,          "skipped", reason,  ""};
}

}  // namespace warpfold::cli
