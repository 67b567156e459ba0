#include "cli/report/report.hpp"

#include <cstddef>

#include "cli/report/build_report.hpp"
#include "pipeline/run/bottleneck.hpp"

namespace warpfold::cli {
namespace {

/// Returns GB/s, or nothing where no time was measured.
std::optional<double> rate_of(const StageTiming& timing) {
  if (timing.seconds <= 0) return std::nullopt;
  return static_cast<double>(timing.bytes) / timing.seconds / 1e9;
}

bool is_there(const Value& value) { return !std::holds_alternative<std::monostate>(value); }

Json applied_json(const AppliedAttributes& applied) {
  Json json;
  const auto add = [&](const char* key, const Value& value) {
    if (is_there(value)) json[key] = json_value(value);
  };
  if (applied.of_each_file) json["of_each_file"] = true;
  if (applied.is_unsigned) json["unsigned"] = true;
  add("scale_factor", applied.scale_factor);
  add("add_offset", applied.add_offset);
  for (const Value& fill : applied.fill_values) json["fill_values"].push_back(json_value(fill));
  add("valid_min", applied.valid_min);
  add("valid_max", applied.valid_max);
  for (const auto& [attribute, why] : applied.ignored) json["ignored"][attribute] = why;
  return json;
}

std::string valid_text(const AppliedAttributes& applied) {
  const bool minimum = is_there(applied.valid_min), maximum = is_there(applied.valid_max);
  if (!minimum && !maximum) return "";
  if (!minimum) return ", valid up to " + to_text(applied.valid_max);
  return ", valid from " + to_text(applied.valid_min) +
         (maximum ? " to " + to_text(applied.valid_max) : " on");
}

/// Returns what is added: " + 273.15", " - 20".
std::string offset_text(const Value& offset) {
  if (!is_there(offset)) return "";
  const std::string text = to_text(offset);
  return text.front() == '-' ? " - " + text.substr(1) : " + " + text;
}

}  // namespace

std::string applied_text(const AppliedAttributes& applied) {
  if (applied == AppliedAttributes{}) return "";
  if (applied.of_each_file) return "stored, unpacked by the attributes of each file";
  std::string text = applied.is_unsigned ? "unsigned(stored)" : "stored";
  if (is_there(applied.scale_factor)) text += " * " + to_text(applied.scale_factor);
  text += offset_text(applied.add_offset);
  std::vector<std::string> fills;
  for (const Value& fill : applied.fill_values) fills.push_back(to_text(fill));
  if (!fills.empty()) text += ", without " + joined(fills, ", ");
  text += valid_text(applied);
  std::vector<std::string> ignored;
  for (const auto& [attribute, why] : applied.ignored)
    ignored.push_back(attribute + " is ignored (" + why + ")");
  return text + (ignored.empty() ? "" : "; " + joined(ignored, ", "));
}

std::string applied_line(const AppliedAttributes& applied) {
  const std::string text = applied_text(applied);
  return text.empty() ? "" : "values = " + text + "\n";
}

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
  for (const std::string& note : run.notes) document["notes"].push_back(with_flags(note));
  return document;
}

void add_shape(Json& document, const std::vector<std::uint64_t>& shape, ElementFormat format) {
  document["shape"] = shape;
  document["dtype"] = name_of(format.type);
  document["byte_order"] = byte_order_text(format.order);
}

Json json_head(const DatasetRun& run) {
  Json document = json_head(run.command, run.result.report, run.file);
  document["dataset"] = run.dataset;
  add_shape(document, run.result.shape, run.result.format);
  return document;
}

void describe_view(Json& document, const ViewOptions& options, const AppliedAttributes& applied,
                   ElementType stored, ElementType values) {
  if (!options.files.empty()) {
    document["files"] = options.files;
    document["concat"] =
        std::visit([](const auto& axis) { return fmt::format("{}", axis); }, options.concat);
  }
  if (!options.select.empty()) document["select"] = options.select;
  if (!options.where.empty()) document["where"] = options.where;
  if (options.raw) document["raw"] = true;
  if (!options.fill_value.empty()) document["fill_value"] = options.fill_value;
  if (!options.mask.empty()) document["mask"] = options.mask;
  if (options.match == Matching::position) document["match"] = "position";
  if (applied != AppliedAttributes{}) document["applied"] = applied_json(applied);
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

std::vector<std::string> run_notes(const RunReport& run) {
  std::vector<std::string> notes;
  if (!run.fallback.empty()) notes.push_back("the cpu backend is used: " + run.fallback + ".");
  if (!run.binding_note.empty()) notes.push_back(run.binding_note);
  for (const std::string& note : run.notes) notes.push_back(with_flags(note));
  return notes;
}

std::string files_text(const std::string& file, const ViewOptions& view) {
  const std::size_t more = view.files.size() - std::min<std::size_t>(view.files.size(), 1);
  if (more == 0) return file;
  return fmt::format("{} and {} more file{},", file, more, more == 1 ? "" : "s");
}

Report dataset_report(const DatasetRun& run, const ViewOptions& view, const std::string& lines,
                      const Json& members, bool timings) {
  Report report;
  report.notes = run_notes(run.result.report);
  report.text = fmt::format("{} {}: {}, {}, {}\n", files_text(run.file, view), run.dataset,
                            format_text(run.result.format), extent_text(run.result.shape),
                            run_text(run.result.report)) +
                applied_line(run.result.applied) + lines + timings_text(run.result.report, timings);
  report.json = json_head(run);
  describe_view(report.json, view, run.result.applied, run.result.format.type,
                run.result.value_type);
  report.json.update(members);
  report.json["timings"] = timings_json(run.result.report);
  return report;
}

std::vector<std::string> csv_columns() {
  return {"command", "file",      "dataset", "dtype",  "ranks",
          "backend", "statistic", "value",   "seconds"};
}

void add_rows(Table& csv, const DatasetRun& run, const std::vector<ResultRow>& results) {
  for (const auto& [statistic, value, places] : results) {
    std::vector<std::string> row{run.command,
                                 run.file,
                                 run.dataset,
                                 std::string(name_of(run.result.format.type)),
                                 fmt::format("{}", run.result.report.ranks),
                                 run.result.report.backend,
                                 statistic,
                                 value,
                                 to_text(run.result.report.seconds)};
    std::vector<std::string>& names = csv.front();
    const auto own = static_cast<std::ptrdiff_t>(row.size());
    for (const auto& [name, cell] : places) {
      const auto found = std::find(names.begin() + own, names.end(), name);
      const auto column = static_cast<std::size_t>(found - names.begin());
      if (found == names.end()) names.push_back(name);
      row.resize(std::max(row.size(), column + 1));
      row[column] = cell;
    }
    csv.push_back(std::move(row));
  }
}

std::vector<std::string> skipped_row(std::string_view command, const std::string& file,
                                     const std::string& dataset, const RunReport& run,
                                     const std::string& reason) {
  return {std::string(command), file,      dataset, "", fmt::format("{}", run.ranks),
          run.backend,          "skipped", reason,  ""};
}

}  // namespace warpfold::cli
