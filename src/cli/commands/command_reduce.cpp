#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/commands/printed_outputs.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "core/results/statistic_table.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* axes_schema = "warpfold.reduce-axis/1";
constexpr const char* labels_schema = "warpfold.reduce-labels/1";

/// The most labels that the text of a report tells.
constexpr std::size_t shown_labels = 20;

/// Returns where argmin and argmax are in a dataset of more than one dimension; nothing of others.
std::vector<std::uint64_t> coordinates_of(Statistic statistic, const Value& value,
                                          const std::vector<std::uint64_t>& shape) {
  const auto* index = std::get_if<int128>(&value);
  if (!row_of(statistic).is_index() || index == nullptr || shape.size() < 2) return {};
  std::vector<std::uint64_t> coordinates(shape.size());
  auto rest = static_cast<std::uint64_t>(*index);
  for (std::size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = rest % shape[d];
    rest /= shape[d];
  }
  return coordinates;
}

std::string text_of(const LabelSummary& label) {
  return label.text.empty() ? to_text(label.label) : label.text;
}

std::string result_text(const Value& value, const std::vector<std::uint64_t>& coordinates) {
  const std::string text = to_text(value);
  return coordinates.empty() ? text : fmt::format("{} at [{}]", text, fmt::join(coordinates, ", "));
}

constexpr const char* reduce_examples =
    R"(warpfold reduce topo.nc topo --where '<-200' --ops mean,argmin
warpfold reduce year.nc temp --axis time --by season --ops mean,q95 -o out.nc
mpirun -np 4 warpfold reduce year.nc temp --axis lat,lon --weights cos:lat -o w.nc)";

class ReduceCommand : public RowsCommand<ReduceRequest> {
 public:
  explicit ReduceCommand(CLI::App& program)
      : RowsCommand(program, "reduce",
                    "Compute statistics of datasets, in one pass except quantiles",
                    reduce_examples) {}

 private:
  void add_factors(Json& members) const {
    if (!request_.options.weights.empty()) members["weights"] = request_.options.weights;
    if (!request_.options.times.empty()) members["times"] = request_.options.times;
  }

  std::vector<std::string> datasets_beside() const override {
    std::vector<std::string> names = pipeline::names_beside(request_.options.view);
    for (const std::string& name :
         {request_.options.by, request_.options.weights, request_.options.times})
      names.push_back(name);
    return names;
  }

  Report make_report(const ReduceResult& result) const override {
    return with_schema(RowsCommand::make_report(result));
  }

  Report make_report(const Outcomes& outcomes) const override {
    Report report = with_schema(RowsCommand::make_report(outcomes));
    if (request_.prints_outputs())
      for (const auto& [dataset, skipped, result, failed] : outcomes)
        if (skipped.empty()) report.text += fmt::format("\n{}\n{}", dataset, lines(result));
    return report;
  }

  Report with_schema(Report report) const {
    if (request_.along_axes()) report.json["schema"] = axes_schema;
    if (request_.by_labels()) report.json["schema"] = labels_schema;
    return report;
  }

  /// Tells each statistic's value, or the dataset that holds it.
  std::string lines(const ReduceResult& result) const override {
    if (request_.reports_labels()) return lines_by_label(result);
    if (request_.prints_outputs()) return printed_text(result, request_.output_names(result));
    Table table;
    for_each_result(result, result.shape, [&](const auto& name, const auto&... of) {
      table.push_back({name, result_text(of...)});
    });
    for_each_output(result, [&](const std::string& name, const AxisOutput& each) {
      table.push_back(
          {name, fmt::format("{} {}: {}, {}", request_.options.output.path, each.dataset,
                             name_of(each.type), extent_text(result.output_shape))});
    });
    return aligned_text(table);
  }

  std::string lines_by_label(const ReduceResult& result) const {
    Table table{{"label"}};
    const std::vector<std::string> names = request_.result_names();
    table.front().insert(table.front().end(), names.begin(), names.end());
    const std::size_t all = result.labels.size();
    const bool shows_all = all * names.size() <= max_reported_numbers;
    const std::size_t shown = shows_all ? all : std::min(shown_labels, all);
    for (const LabelSummary& label : std::span(result.labels).first(shown)) {
      std::vector<std::string>& row = table.emplace_back(std::vector{text_of(label)});
      for_each_result(label, result.shape,
                      [&](const auto&, const auto&... of) { row.push_back(result_text(of...)); });
    }
    if (shown == all) return aligned_text(table);
    return aligned_text(table) +
           fmt::format("and {} more labels; -o, --json and --csv have all\n", all - shown);
  }

  Rows rows(const ReduceResult& result) const override {
    if (request_.prints_outputs()) return printed_rows(result, request_.output_names(result));
    Rows rows;
    for (const LabelSummary& label : result.labels)
      for_each_result(label, {}, [&](const auto& name, const Value& value, const auto&) {
        rows.push_back({fmt::format("{}[{}]", name, text_of(label)),
                        to_text(value, ""),
                        {{"label", text_of(label)}}});
      });
    for_each_result(result, {}, [&](const auto& name, const Value& value, const auto&) {
      rows.push_back({name, to_text(value, "")});
    });
    for_each_output(result, [&](const std::string& name, const AxisOutput& each) {
      rows.push_back({name, request_.options.output.path + ":" + each.dataset});
    });
    return rows;
  }

  std::vector<std::string> columns() const override {
    if (request_.reports_labels()) return {"labels"};
    if (request_.prints_outputs()) return {};
    return request_.result_names();
  }

  /// Calls body(what it is requested as, value, coordinates_of() it) for each number of a dataset
  /// of a shape, or of one of its labels.
  template <class Results, class Body>
  void for_each_result(const Results& results, const std::vector<std::uint64_t>& shape,
                       Body&& body) const {
    for (const auto& [statistic, value] : results.summary)
      body(std::string(name_of(statistic)), value, coordinates_of(statistic, value, shape));
    for (std::size_t i = 0; i < results.quantiles.size(); ++i)
      body(request_.quantile_names[i], results.quantiles[i], std::vector<std::uint64_t>());
  }

  template <class Body>
  void for_each_output(const ReduceResult& result, Body&& body) const {
    const std::vector<std::string> names = request_.output_names(result);
    for (std::size_t i = 0; i < names.size(); ++i) body(names[i], result.outputs[i]);
  }

  std::vector<std::string> row(const ReduceResult& result) const override {
    std::vector<std::string> cells;
    if (request_.prints_outputs()) return cells;
    if (request_.reports_labels()) cells.push_back(fmt::format("{}", result.labels.size()));
    for_each_result(result, result.shape,
                    [&](const auto&, const auto&... of) { cells.push_back(result_text(of...)); });
    for (const AxisOutput& each : result.outputs)
      cells.push_back(fmt::format("{}: {}, {}", each.dataset, name_of(each.type),
                                  shape_text(result.output_shape)));
    return cells;
  }

  Json axis_members(const ReduceResult& result) const {
    Json members{{"axis", result.axes}};
    if (!result.axis_names.empty()) members["axis_names"] = result.axis_names;
    const Every& every = request_.options.every;
    if (every.indices > 0) members["every"] = every.indices;
    if (!every.window.empty()) members["every"] = every.window;
    if (request_.options.complete) members["complete"] = true;
    if (request_.options.min_count > 0) members["min_count"] = request_.options.min_count;
    if (!request_.options.by.empty()) members["by"] = request_.options.by;
    add_factors(members);
    add_quantile_method(members);
    add_places(members);
    members["results"] = outputs_json(result);
    return members;
  }

  void add_places(Json& members) const {
    if (request_.options.places == Places::coordinates) members["places"] = "coordinates";
  }

  void add_quantile_method(Json& members) const {
    if (!request_.quantile_names.empty())
      members["quantile_method"] = name_of(request_.options.quantile_method);
  }

  Json label_members(const ReduceResult& result) const {
    Json members{{"by", request_.options.by}};
    add_factors(members);
    add_quantile_method(members);
    if (!request_.reports_labels()) {
      add_places(members);
      members["results"] = outputs_json(result);
      return members;
    }
    Json& entries = members["results"] = Json::array();
    for (const LabelSummary& label : result.labels) {
      Json entry{{"label", label.text.empty() ? json_value(label.label) : Json(label.text)}};
      for_each_result(label, {}, [&](const auto& name, const Value& value, const auto&) {
        entry[name] = json_value(value);
      });
      entries.push_back(std::move(entry));
    }
    return members;
  }

  Json outputs_json(const ReduceResult& result) const {
    if (request_.prints_outputs()) return printed_json(result, request_.output_names(result));
    Json datasets = Json::object();
    for_each_output(result, [&](const std::string& name, const AxisOutput& each) {
      datasets[name] = {{"dataset", each.dataset}, {"dtype", name_of(each.type)}};
    });
    return {{"output", request_.options.output.path},
            {"output_shape", result.output_shape},
            {"datasets", std::move(datasets)}};
  }

  /// Gives the results, and the coordinates of those that are places.
  Json members_of(const ReduceResult& result) const override {
    Json members = own_members_of(result);
    add_settings(members);
    if (const auto& left_out = result.left_out)
      members["left_out"] = {{"by_view", left_out->by_view}, {"nan", left_out->nan}};
    return members;
  }

  /// Adds what numbers depend on beside the data.
  void add_settings(Json& members) const {
    const ReduceOptions& options = request_.options;
    members["nan"] = word_of(options.summary.nan, nan_policies);
    if (request_.takes_ddof()) members["ddof"] = options.summary.ddof;
    if (request_.takes_overflow())
      members["overflow"] = word_of(options.summary.overflow, overflow_policies);
    if (!options.output.path.empty() || request_.along_axes()) members["empty"] = options.empty;
  }

  Json own_members_of(const ReduceResult& result) const {
    if (request_.along_axes()) return axis_members(result);
    if (request_.by_labels()) return label_members(result);
    Json results = Json::object();
    Json places = Json::object();
    for_each_result(result, result.shape,
                    [&](const auto& name, const Value& value, const auto& coordinates) {
                      results[name] = json_value(value);
                      if (!coordinates.empty()) places[name] = coordinates;
                    });
    Json members{{"results", std::move(results)}};
    add_quantile_method(members);
    if (!places.empty()) members["coordinates"] = std::move(places);
    add_factors(members);
    return members;
  }
};

}  // namespace

std::unique_ptr<Command> make_reduce_command(CLI::App& program) {
  return std::make_unique<ReduceCommand>(program);
}

}  // namespace warpfold::cli
