#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/dataset_command.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/dataset_options.hpp"
#include "cli/options/operations.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/report.hpp"
#include "cli/report/text.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<NanPolicy> nan_policies[] = {{"propagate", NanPolicy::propagate},
                                              {"skip", NanPolicy::skip}};

constexpr Choice<QuantileMethod> quantile_methods[] = {{"linear", QuantileMethod::linear},
                                                       {"lower", QuantileMethod::lower},
                                                       {"higher", QuantileMethod::higher},
                                                       {"midpoint", QuantileMethod::midpoint},
                                                       {"nearest", QuantileMethod::nearest}};

constexpr const char* axes_schema = "warpfold.reduce-axis/1";
constexpr const char* labels_schema = "warpfold.reduce-labels/1";
constexpr const char* axes_group = "Along axes";

/// The most labels that the text of a report tells.
constexpr std::size_t shown_labels = 20;

/// Returns where argmin and argmax are in a dataset of more than one dimension; nothing of others.
std::vector<std::uint64_t> coordinates_of(Statistic statistic, const Value& value,
                                          const std::vector<std::uint64_t>& shape) {
  const bool is_index = statistic == Statistic::argmin || statistic == Statistic::argmax;
  const auto* index = std::get_if<int128>(&value);
  if (!is_index || index == nullptr || shape.size() < 2) return {};
  std::vector<std::uint64_t> coordinates(shape.size());
  auto rest = static_cast<std::uint64_t>(*index);
  for (std::size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = rest % shape[d];
    rest /= shape[d];
  }
  return coordinates;
}

std::string result_text(Statistic statistic, const Value& value,
                        const std::vector<std::uint64_t>& shape) {
  const auto coordinates = coordinates_of(statistic, value, shape);
  const std::string text = to_text(value);
  return coordinates.empty() ? text : fmt::format("{} at [{}]", text, fmt::join(coordinates, ", "));
}

constexpr const char* examples = R"(warpfold reduce topo.nc topo --where '<-200' --ops mean,argmin
warpfold reduce year.nc temp --axis time --by season --ops mean,q95 -o out.nc
mpirun -np 4 warpfold reduce year.nc temp --axis lat,lon --weights cos:lat -o w.nc)";

/// Writes what --ops may name, but for quantiles by their numbers.
std::string operation_words() {
  return "all|" + names_of(all_statistics) + "|" + std::string(name_of(Statistic::sum_of_weights)) +
         "|median,...";
}

class ReduceCommand : public RowsCommand<ReduceOptions, ReduceResult> {
 public:
  explicit ReduceCommand(CLI::App& program)
      : RowsCommand(program, "reduce", "Reduce a dataset to its statistics, in one pass") {
    add_dataset_arguments(application(), arguments_);
    add_statistics_options();
    add_axes_options();
    add_view_options(application(), options_.view);
    add_data_options(application(), common_);
    show_examples(examples);
  }

  void run(const Session& session) override {
    take_files(arguments_, options_.view, mpi::Communicator(session.communicator));
    if (quantile_names_.empty() && application().count("--quantile-method") > 0)
      throw usage_error("--quantile-method is given, and no quantile", "",
                        "Ask for some with --ops median,q05, or leave it out.");
    if ((quantile_names_.empty() || !along_axes()) && application().count("--quantile-memory") > 0)
      throw usage_error("--quantile-memory is given, and no quantile along axes",
                        "others don't keep elements in memory", "Leave it out.");
    check_output_options();
    options_.output.command = shell_quoted(session.words);
    if (application().count("--ops") == 0) choose_statistics();
    compute_and_report(session, options_.output.path,
                       [](const auto&... of) { return reduce(of...); });
  }

 private:
  bool along_axes() const { return !options_.axes.empty(); }
  bool by_labels() const { return !along_axes() && !options_.by.empty(); }

  static const std::string& named(const char* option, const std::string& text) {
    if (text.empty()) throw usage_error(fmt::format("bad {} ''", option), "", "Name a dataset.");
    return text;
  }

  void choose_statistics() {
    const bool weighted = !options_.weights.empty();
    if (along_axes())
      options_.statistics = {weighted ? Statistic::mean : Statistic::sum};
    else if (weighted)
      options_.statistics = {Statistic::count, Statistic::sum_of_weights, Statistic::sum,
                             Statistic::mean};
    else if (!options_.times.empty())
      options_.statistics = {Statistic::count, Statistic::sum, Statistic::mean};
  }

  void add_factors(Json& members) const {
    if (!options_.weights.empty()) members["weights"] = options_.weights;
    if (!options_.times.empty()) members["times"] = options_.times;
  }

  std::vector<std::string> datasets_beside() const override {
    return {options_.view.mask, options_.by, options_.weights, options_.times};
  }

  void check_output_options() const {
    if (along_axes()) return require_output(options_.output, "--axis makes datasets");
    if (by_labels() && !options_.output.path.empty() && options_.every == 0 &&
        !options_.keep_dimensions)
      return;
    if (!options_.output.path.empty() || options_.output_type || options_.output.force ||
        options_.output.append || options_.every > 0 || options_.keep_dimensions ||
        options_.empty != "auto")
      throw usage_error(
          by_labels()
              ? "--every and --keepdims need --axis, --append, --force, --output-type and --empty "
                "-o"
              : "-o, --append, --force, --every, --output-type, --empty and --keepdims need --axis",
          "without it the results are numbers, not datasets",
          by_labels() ? "Name the output with -o, or write a report with --json or --csv."
                      : "Name the axes with --axis, or write a report with --json or --csv.");
  }

  void add_statistics_options() {
    add("--ops", operation_words(),
        "What to compute: mean,std,median,q05,all; one pass for all statistics, and passes for "
        "quantiles, which are named in percent (q05) or as fractions (q0.999). If not given, "
        "count,sum,min,max,mean,std",
        [this](const std::string& text) { take_operations(text); })
        ->option_text("NAME,...");
    add("--quantile-method", quantile_methods,
        "Quantiles between two elements; as NumPy's method, linear if not given",
        options_.quantile_method)
        ->option_text("METHOD");
    add("--quantile-memory", "SIZE",
        "A rank's memory for quantiles along axes; the most bytes that it keeps elements in, 1G if "
        "not given",
        [this](const std::string& text) {
          options_.quantile_memory_bytes = parse_size("--quantile-memory", text);
        });
    add("--by", "[FILE::]DATASET|year|season|month|day|dayofyear|hour",
        "Reduce elements of each label apart; this dataset has the labels, integers or texts, and "
        "the shape of the dataset, or of its last dimensions. With -o into datasets of OUT, "
        "otherwise to numbers. With --axis the indices along the first of these that have one "
        "label, or whose times have the same PART, such as season",
        [this](const std::string& text) {
          if (text.empty()) throw usage_error("bad --by ''", "", "Name a dataset.");
          options_.by = text;
        })
        ->option_text("[FILE::]DATASET|PART");
    add("--nan", nan_policies, "What NaN elements do; propagate if not given",
        options_.summary.nan);
    add("--overflow", overflow_policies,
        "What sums of integers do that don't fit; error if not given. wrap gives them modulo "
        "2^width of their type, with --axis of the output's",
        options_.summary.overflow);
    add("--weights", "[FILE::]DATASET|cos:DIMENSION",
        "Weigh elements by this dataset, or a cosine; of the dataset's shape, of that of its last "
        "dimensions or of one dimension, or by the cosine of a coordinate in degrees. --ops is "
        "count,sum_of_weights,sum,mean if not given, with --axis mean",
        [this](const std::string& text) { options_.weights = named("--weights", text); });
    add("--times", "[FILE::]DATASET",
        "Multiply elements by those of this dataset; --ops is count,sum,mean if not given, with "
        "--axis sum",
        [this](const std::string& text) { options_.times = named("--times", text); });
    add("--ddof", "N", "var and std divide by count - N; 0 if not given",
        [this](const std::string& text) {
          constexpr std::uint64_t maximum = std::numeric_limits<std::int64_t>::max();
          options_.summary.ddof = parse_integer("--ddof", text, 0, maximum);
        });
  }

  void take_operations(const std::string& text) {
    Operations operations = parse_operations("--ops", text);
    options_.statistics = std::move(operations.statistics);
    options_.quantiles = std::move(operations.fractions);
    quantile_names_ = std::move(operations.quantiles);
  }

  void add_axes_options() {
    add("--axis", "K|NAME,...",
        "Reduce along these dimensions alone; as NumPy's axis, into a dataset of OUT. Negative "
        "ones "
        "count from the last. --ops is sum if not given",
        [this](const std::string& text) { options_.axes = parse_axes("--axis", text); })
        ->group(axes_group);
    add("--every", "N",
        "Reduce N indices along the first at a time; as the hours of each day, the last time what "
        "is left",
        [this](const std::string& text) {
          constexpr std::uint64_t maximum = std::numeric_limits<std::int64_t>::max();
          options_.every = parse_integer("--every", text, 1, maximum);
        })
        ->group(axes_group);
    application()
        .add_flag("--keepdims", options_.keep_dimensions,
                  "Leave these dimensions, with extent 1; as NumPy's keepdims")
        ->group(axes_group);
    add_output_options(application(), options_.output,
                       ". For several --ops it is what their names begin with: DATASET_mean",
                       axes_group);
    add("--empty", "auto|VALUE",
        "What extrema of no elements are; the dataset's _FillValue if not given, or NaN, or "
        "netCDF's default of integers",
        [this](const std::string& text) { options_.empty = text; })
        ->group(axes_group);
    add("--output-type", names_of(all_element_types),
        "The type of sums, means and the like; if not given, floats keep their type, sums of "
        "integers get 64 bits and everything else of them f64",
        [this](const std::string& text) { options_.output_type = parse_element_type(text); })
        ->group(axes_group)
        ->option_text("TYPE");
  }

  Report make_report(const ReduceResult& result) const override {
    return with_schema(RowsCommand::make_report(result));
  }

  Report make_report(const Outcomes& outcomes) const override {
    return with_schema(RowsCommand::make_report(outcomes));
  }

  Report with_schema(Report report) const {
    if (along_axes()) report.json["schema"] = axes_schema;
    if (by_labels()) report.json["schema"] = labels_schema;
    return report;
  }

  /// Tells each statistic's value, or the dataset that holds it.
  std::string lines(const ReduceResult& result) const override {
    if (by_labels() && options_.output.path.empty()) return lines_by_label(result);
    Table table;
    for (const auto& [statistic, value] : result.summary)
      table.push_back(
          {std::string(name_of(statistic)), result_text(statistic, value, result.shape)});
    for (std::size_t i = 0; i < result.quantiles.size(); ++i)
      table.push_back({quantile_names_[i], to_text(result.quantiles[i])});
    for_each_output(result, [&](const std::string& name, const AxisOutput& each) {
      table.push_back({name, fmt::format("{} {}: {}, {}", options_.output.path, each.dataset,
                                         name_of(each.type), extent_text(result.output_shape))});
    });
    return aligned_text(table);
  }

  /// Tells the first labels in a line each.
  std::string lines_by_label(const ReduceResult& result) const {
    Table table{{"label"}};
    const std::vector<std::string> names = statistics_asked_for();
    table.front().insert(table.front().end(), names.begin(), names.end());
    const std::size_t shown = std::min(shown_labels, result.labels.size());
    for (const auto& [label, text, summary] : std::span(result.labels).first(shown)) {
      std::vector<std::string>& row =
          table.emplace_back(std::vector{text.empty() ? to_text(label) : text});
      for (const auto& [statistic, value] : summary)
        row.push_back(result_text(statistic, value, result.shape));
    }
    if (shown == result.labels.size()) return aligned_text(table);
    return aligned_text(table) +
           fmt::format("and {} more labels: all are in what -o, --json and --csv write\n",
                       result.labels.size() - shown);
  }

  Rows rows(const ReduceResult& result) const override {
    Rows rows;
    for (const auto& [label, text, summary] : result.labels)
      for (const auto& [statistic, value] : summary)
        rows.emplace_back(
            fmt::format("{}[{}]", name_of(statistic), text.empty() ? to_text(label) : text),
            to_text(value, ""));
    for (const auto& [statistic, value] : result.summary)
      rows.emplace_back(name_of(statistic), to_text(value, ""));
    for (std::size_t i = 0; i < result.quantiles.size(); ++i)
      rows.emplace_back(quantile_names_[i], to_text(result.quantiles[i], ""));
    for_each_output(result, [&](const std::string& name, const AxisOutput& each) {
      rows.emplace_back(name, options_.output.path + ":" + each.dataset);
    });
    return rows;
  }

  std::vector<std::string> columns() const override {
    if (by_labels() && options_.output.path.empty()) return {"labels"};
    return statistics_asked_for();
  }

  /// Calls body(what it is asked for as, output) for each.
  template <class Body>
  void for_each_output(const ReduceResult& result, Body&& body) const {
    const std::vector<std::string> names = statistics_asked_for();
    for (std::size_t i = 0; i < result.outputs.size(); ++i) body(names[i], result.outputs[i]);
  }

  std::vector<std::string> statistics_asked_for() const {
    std::vector<std::string> names;
    for (const Statistic statistic : options_.statistics) names.emplace_back(name_of(statistic));
    names.insert(names.end(), quantile_names_.begin(), quantile_names_.end());
    return names;
  }

  std::vector<std::string> row(const ReduceResult& result) const override {
    std::vector<std::string> cells;
    if (by_labels() && options_.output.path.empty())
      cells.push_back(fmt::format("{}", result.labels.size()));
    for (const auto& [statistic, value] : result.summary)
      cells.push_back(result_text(statistic, value, result.shape));
    for (const Value& value : result.quantiles) cells.push_back(to_text(value));
    for (const AxisOutput& each : result.outputs)
      cells.push_back(fmt::format("{}: {}, {}", each.dataset, name_of(each.type),
                                  shape_text(result.output_shape)));
    return cells;
  }

  Json axis_members(const ReduceResult& result) const {
    Json members{{"axis", result.axes}};
    if (!result.axis_names.empty()) members["axis_names"] = result.axis_names;
    if (options_.every > 0) members["every"] = options_.every;
    if (!options_.by.empty()) members["by"] = options_.by;
    add_factors(members);
    add_quantile_method(members);
    members["results"] = outputs_json(result);
    return members;
  }

  void add_quantile_method(Json& members) const {
    if (!quantile_names_.empty())
      members["quantile_method"] = word_of(options_.quantile_method, quantile_methods);
  }

  Json label_members(const ReduceResult& result) const {
    Json members{{"by", options_.by}};
    if (!options_.output.path.empty()) {
      members["results"] = outputs_json(result);
      return members;
    }
    Json& entries = members["results"] = Json::array();
    for (const auto& [label, text, summary] : result.labels) {
      Json entry{{"label", text.empty() ? json_value(label) : Json(text)}};
      for (const auto& [statistic, value] : summary)
        entry[std::string(name_of(statistic))] = json_value(value);
      entries.push_back(std::move(entry));
    }
    return members;
  }

  Json outputs_json(const ReduceResult& result) const {
    Json datasets = Json::object();
    for_each_output(result, [&](const std::string& name, const AxisOutput& each) {
      datasets[name] = {{"dataset", each.dataset}, {"dtype", name_of(each.type)}};
    });
    return {{"output", options_.output.path},
            {"output_shape", result.output_shape},
            {"datasets", std::move(datasets)}};
  }

  /// Gives the results, and the coordinates of those that are places.
  Json members_of(const ReduceResult& result) const override {
    if (along_axes()) return axis_members(result);
    if (by_labels()) return label_members(result);
    Json results = Json::object();
    Json places = Json::object();
    for (const auto& [statistic, value] : result.summary) {
      const std::string name(name_of(statistic));
      results[name] = json_value(value);
      const auto coordinates = coordinates_of(statistic, value, result.shape);
      if (!coordinates.empty()) places[name] = coordinates;
    }
    for (std::size_t i = 0; i < result.quantiles.size(); ++i)
      results[quantile_names_[i]] = json_value(result.quantiles[i]);
    Json members{{"results", std::move(results)}};
    add_quantile_method(members);
    if (!places.empty()) members["coordinates"] = std::move(places);
    add_factors(members);
    return members;
  }

  std::vector<std::string> quantile_names_;
};

}  // namespace

std::unique_ptr<Command> make_reduce_command(CLI::App& program) {
  return std::make_unique<ReduceCommand>(program);
}

}  // namespace warpfold::cli
