#include "cli/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/commands/build_report.hpp"
#include "cli/report/report_target.hpp"
#include "cli/report/standard_output.hpp"
#include "cli/report/text.hpp"
#include "cli/run/interruption.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

std::filesystem::path absolute_path(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path absolute =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), failure);
  return failure ? std::filesystem::path(path) : absolute;
}

/// Also where they are two names of one file.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code missing;
  return a == b || std::filesystem::equivalent(a, b, missing);
}

/// The options whose reports go to standard output.
std::vector<std::string> targets_on_output(const CommonOptions& options) {
  std::vector<std::string> names;
  if (options.json == standard_output) names.emplace_back("--json");
  if (options.csv == standard_output) names.emplace_back("--csv");
  if (options.metrics == standard_output) names.emplace_back("--metrics");
  return names;
}

void require_one_on_output(const CommonOptions& options) {
  const std::vector<std::string> names = targets_on_output(options);
  if (names.size() > 1)
    throw usage_error(names[0] + " and " + names[1] + " can't both go to standard output", "",
                      "Give one of them a file name.");
}

/// GB/s, or nothing where no time was measured.
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

Json json_head(const std::string& command, const RunReport& run, const std::string& file,
               const std::string& dataset, const std::vector<std::uint64_t>& shape,
               ElementFormat format) {
  Json document = json_head(command, run, file);
  document["dataset"] = dataset;
  add_shape(document, shape, format);
  return document;
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
          {"bottleneck", pipeline::measured_bottleneck(run)}};
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
  const std::string bottleneck = pipeline::measured_bottleneck(run);
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

std::vector<std::string> csv_columns() {
  return {"command", "file",      "dataset", "dtype",  "ranks",
          "backend", "statistic", "value",   "seconds"};
}

std::vector<std::string> csv_row(std::string_view command, const std::string& file,
                                 const std::string& dataset, ElementType type, const RunReport& run,
                                 std::string_view statistic, const Value& value) {
  const bool known = !std::holds_alternative<std::monostate>(value);
  return {std::string(command),
          file,
          dataset,
          std::string(name_of(type)),
          fmt::format("{}", run.ranks),
          run.backend,
          std::string(statistic),
          known ? to_text(value) : "",
          to_text(run.seconds)};
}

std::vector<std::string> skipped_row(std::string_view command, const std::string& file,
                                     const std::string& dataset, const RunReport& run,
                                     const std::string& reason) {
  return {std::string(command), file,      dataset, "", fmt::format("{}", run.ranks),
          run.backend,          "skipped", reason,  ""};
}

ReportOutputs::ReportOutputs(const Session& session, const CommonOptions& options,
                             std::vector<std::string> used_files)
    : session_(session), options_(options), used_files_(std::move(used_files)) {
  require_one_on_output(options);
  pipeline::run_on_root(session.communicator, [this] { open(); });
}

void ReportOutputs::open() {
  std::vector<std::filesystem::path> taken;
  for (const std::string& file : used_files_) taken.push_back(absolute_path(file));
  const auto open_one = [&taken](const std::string& target, auto&& make) {
    if (target.empty()) return;
    const std::filesystem::path path = absolute_path(target);
    const auto is_same = [&path](const auto& other) { return same_file(path, other); };
    if (target != standard_output && std::any_of(taken.begin(), taken.end(), is_same))
      throw usage_error("the report would replace " + target, "this run has another use for it",
                        "Give the report a name of its own.");
    taken.push_back(path);
    make();
  };
  open_one(options_.json, [this] { json_.emplace(options_.json); });
  open_one(options_.csv, [this] { csv_.emplace(options_.csv); });
  open_one(options_.metrics, [this] { metrics_.emplace(options_.metrics, session_.ranks); });
}

void ReportOutputs::publish(const std::function<Report()>& make) {
  try {
    pipeline::run_on_root(session_.communicator, [&] { write(make()); });
  } catch (const std::exception& failure) {
    fail(failure);
    throw;
  }
  if (metrics_) metrics_->end(RunState::done, "");
}

void ReportOutputs::fail(const std::exception& failure) {
  if (!metrics_) return;
  metrics_->end(interruption_requested() ? RunState::interrupted : RunState::failed,
                failure.what());
}

void ReportOutputs::write(const Report& report) {
  if (!report.note.empty() && !options_.quiet) print_remark("note: " + report.note);
  const bool report_on_output = !targets_on_output(options_).empty();
  if (json_) json_->write(json_text(report.json));
  if (csv_) csv_->write(csv_text(report.csv));
  if (!options_.quiet && !report_on_output) print(report.text);
}

}  // namespace warpfold::cli
