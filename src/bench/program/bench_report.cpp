#include "bench/program/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/report/json_writer.hpp"
#include "cli/report/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

using namespace cli;

std::string_view name_of(Clock clock) { return clock == Clock::device ? "device" : "host"; }

std::string_view name_of(Check check) {
  constexpr std::string_view names[] = {"", "right", "wrong"};
  return names[static_cast<std::size_t>(check)];
}

std::string with_digits(const std::optional<double>& value, int digits, double scale = 1.0) {
  return value ? fmt::format("{:.{}f}", *value * scale, digits) : "";
}

/// Gigabytes per second with three digits or more.
std::string rate_text(const std::optional<double>& rate) {
  return with_digits(rate, rate && *rate < 10 ? 2 : 1);
}

template <class Part>
std::optional<double> part_of(const Row& row, Part Spread::*part) {
  if (!row.seconds) return std::nullopt;
  return (*row.seconds).*part;
}

std::string error_text(const Row& row) {
  return row.error_ulps ? fmt::format("{:.3g}", *row.error_ulps) : "";
}

/// A time unit is the unit of a table's times.
struct TimeUnit {
  std::string name;
  double per_second;
};

/// Milliseconds where that leaves digits enough of every time.
TimeUnit unit_for(const std::vector<Row>::const_iterator begin,
                  const std::vector<Row>::const_iterator end) {
  constexpr double seconds_enough = 10e-3;
  const bool all_long = std::all_of(begin, end, [](const Row& row) {
    return !row.seconds || row.seconds->minimum >= seconds_enough;
  });
  return all_long ? TimeUnit{"ms", 1e3} : TimeUnit{"us", 1e6};
}

std::vector<std::string> heading(const TimeUnit& unit) {
  return {"size",
          "elements",
          "operation",
          "kernel",
          "median " + unit.name,
          "least " + unit.name,
          "most " + unit.name,
          "GB/s",
          "elements GB/s",
          "of ceiling",
          "of plain",
          "of copy",
          "of CUB",
          "checked",
          "error ulp",
          ""};
}

/// Returns what GB/s would be of the elements without their filters.
std::optional<double> element_rate(const Row& row) {
  if (!row.gigabytes_per_second || row.element_bytes == 0 || row.useful_bytes == 0)
    return std::nullopt;
  return *row.gigabytes_per_second * static_cast<double>(row.element_bytes) /
         static_cast<double>(row.useful_bytes);
}

std::vector<std::string> line(const Row& row, const TimeUnit& unit) {
  const std::string check = row.check == Check::wrong ? "WRONG" : std::string(name_of(row.check));
  return {bytes_text(row.bytes),
          row.elements == 0 ? "" : fmt::format("{}", row.elements),
          row.operation,
          row.kernel,
          with_digits(part_of(row, &Spread::median), 2, unit.per_second),
          with_digits(part_of(row, &Spread::minimum), 2, unit.per_second),
          with_digits(part_of(row, &Spread::maximum), 2, unit.per_second),
          rate_text(row.gigabytes_per_second),
          rate_text(element_rate(row)),
          with_digits(row.of_ceiling, 3),
          with_digits(row.of_plain, 3),
          with_digits(row.of_copy, 3),
          with_digits(row.of_cub, 3),
          check,
          error_text(row),
          row.note.empty() ? row.title : row.note};
}

/// Returns the table without the columns that say nothing of any row.
Table without_empty_columns(const Table& table) {
  Table columns(table.size());
  for (std::size_t column = 0; column < table.front().size(); ++column) {
    const bool says_something = std::any_of(table.begin() + 1, table.end(),
                                            [&](const auto& row) { return !row[column].empty(); });
    if (!says_something) continue;
    for (std::size_t i = 0; i < table.size(); ++i) columns[i].push_back(table[i][column]);
  }
  return columns;
}

/// Makes a table for each run of rows of one group.
std::string tables(const std::vector<Row>& rows) {
  std::string text;
  for (auto row = rows.begin(); row != rows.end();) {
    const std::string group = row->group;
    const auto end = std::find_if(row, rows.end(), [&](const Row& r) { return r.group != group; });
    const TimeUnit unit = unit_for(row, end);
    Table table{heading(unit)};
    for (; row != end; ++row) table.push_back(line(*row, unit));
    text += "\n" + group + "\n" + aligned_text(without_empty_columns(table));
  }
  return text;
}

std::string device_text(const DeviceFacts& device) {
  if (device.compute_capability.empty()) return "";
  return fmt::format(
      ", compute capability {}, {} multiprocessors, {} of L2, driver for CUDA {}, {}",
      device.compute_capability, device.multiprocessors, bytes_text(device.l2_bytes), device.driver,
      device.cub);
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json row_json(const Row& row) {
  Json json;
  json["group"] = row.group;
  json["operation"] = row.operation;
  json["kernel"] = row.kernel;
  json["title"] = row.title;
  json["clock"] = name_of(row.clock);
  json["bytes"] = json_integer(row.bytes);
  json["elements"] = json_integer(row.elements);
  json["useful_bytes"] = json_integer(row.useful_bytes);
  json["element_bytes"] = json_integer(row.element_bytes);
  json["ceiling"] = row.ceiling;
  json["seconds"] = Json();
  if (row.seconds)
    json["seconds"] = {{"median", row.seconds->median},
                       {"min", row.seconds->minimum},
                       {"max", row.seconds->maximum}};
  json["GB/s"] = optional_json(row.gigabytes_per_second);
  json["of_ceiling"] = optional_json(row.of_ceiling);
  json["of_plain"] = optional_json(row.of_plain);
  json["of_copy"] = optional_json(row.of_copy);
  json["of_cub"] = optional_json(row.of_cub);
  json["check"] = row.check == Check::none ? Json() : Json(name_of(row.check));
  json["error_ulps"] = optional_json(row.error_ulps);
  json["note"] = row.note;
  return json;
}

Json gpu_json(const DeviceFacts& device) {
  if (device.compute_capability.empty()) return nullptr;
  return {{"compute_capability", device.compute_capability},
          {"multiprocessors", device.multiprocessors},
          {"memory_bytes", json_integer(device.memory_bytes)},
          {"l2_bytes", json_integer(device.l2_bytes)},
          {"driver", device.driver},
          {"runtime", device.runtime},
          {"cub", device.cub}};
}

Json document(const std::string& command, const std::string& what, const Result& result) {
  Json json = json_head(command);
  json["ranks"] = result.run.ranks;
  json["hosts"] = result.run.hosts;
  json["devices"] = result.run.devices;
  json["backend"] = result.run.backend;
  json["gpu"] = gpu_json(result.device);
  json["measured"] = what;
  json["results"] = Json::array();
  for (const Row& row : result.rows) json["results"].push_back(row_json(row));
  return json;
}

Table csv(const std::vector<Row>& rows) {
  Table table{{"group", "operation", "kernel", "clock", "bytes", "elements", "median_seconds",
               "min_seconds", "max_seconds", "gigabytes_per_second", "of_ceiling", "of_plain",
               "of_copy", "of_cub", "check", "error_ulps", "note"}};
  const auto number = [](const std::optional<double>& value) {
    return value ? to_text(*value) : "";
  };
  for (const Row& row : rows)
    table.push_back({row.group, row.operation, row.kernel, std::string(name_of(row.clock)),
                     fmt::format("{}", row.bytes), fmt::format("{}", row.elements),
                     number(part_of(row, &Spread::median)), number(part_of(row, &Spread::minimum)),
                     number(part_of(row, &Spread::maximum)), number(row.gigabytes_per_second),
                     number(row.of_ceiling), number(row.of_plain), number(row.of_copy),
                     number(row.of_cub), std::string(name_of(row.check)), number(row.error_ulps),
                     row.note});
  return table;
}

}  // namespace

Report bench_report(const std::string& command, const std::string& what, const Result& result) {
  Report report;
  report.notes = run_notes(result.run);
  report.text = fmt::format("{} {}: {}{}\n", command, what, run_text(result.run),
                            device_text(result.device)) +
                tables(result.rows);
  report.json = document(command, what, result);
  report.csv = csv(result.rows);
  return report;
}

void refuse_wrong_results(const Result& result) {
  if (result.wrong == 0) return;
  throw Error(fmt::format("{} wrong result{}", result.wrong, result.wrong == 1 ? "" : "s"),
              "see the rows marked WRONG", "Please report them with the output of `json`.");
}

}  // namespace warpfold::bench
