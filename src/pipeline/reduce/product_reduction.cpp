#include "pipeline/reduce/product_reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>

#include "core/base/text.hpp"
#include "core/results/statistic_table.hpp"
#include "core/results/summarize.hpp"
#include "mpi/combine.hpp"
#include "pipeline/reduce/axis_reduce_pipeline.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

void require_allowed(const ReduceOptions& options, const std::string& option) {
  const auto allows = [&](const StatisticRow& row) {
    return row.factors == AllowedFactors::any ||
           (row.factors == AllowedFactors::weights && !options.weights.empty());
  };
  const auto refused = std::ranges::find_if_not(options.statistics, allows, row_of);
  if (refused == options.statistics.end()) return;
  std::vector<std::string> names;
  for (const StatisticRow& row : statistic_table())
    if (allows(row)) names.emplace_back(row.name);
  throw usage_error("there is no " + std::string(name_of(*refused)) + " with `" + option + "`", "",
                    "Ask for some of " + joined(names, ", ") + ".");
}

}  // namespace

bool has_factors(const ReduceOptions& options) {
  return !options.weights.empty() || !options.times.empty();
}

void check_factors(const ReduceOptions& options) {
  const auto given = std::ranges::count(options.statistics, Statistic::sum_of_weights);
  if (options.weights.empty() && given > 0)
    throw usage_error("sum_of_weights is asked for, and no weights are given", "",
                      "Name them with `weights`.");
  if (!has_factors(options)) return;
  const std::string option = option_of_factors(options);
  if (!options.weights.empty() && !options.times.empty())
    throw usage_error("both `weights` and `times` are given", "", "Leave out one of them.");
  if (!options.quantiles.empty())
    throw usage_error("quantiles are asked for with `" + option + "`",
                      "they are found of elements that count alike", "Leave out one of them.");
  if (options.axes.empty() && !options.by.empty())
    throw usage_error("`by` is given with `" + option + "`",
                      "the elements of labels are reduced as they are",
                      "Leave out one of them, or name an axis.");
  if (!options.weights.empty() && options.summary.ddof != 0)
    throw usage_error("`ddof` is given with `weights`",
                      "a weighted variance is divided by the sum of weights", "Leave out `ddof`.");
  require_allowed(options, option);
}

ElementType type_of_products(const ReduceOptions& options, ElementType values) {
  return has_factors(options) && is_integer(values) ? ElementType::f64 : values;
}

ReduceNeeds needs_of_products(const ReduceOptions& options, ElementType values) {
  return options.weights.empty() ? needs_of(options.statistics, type_of_products(options, values))
                                 : weighted_needs_of(options.statistics);
}

std::optional<DatasetFactors> factors_of(const ReduceOptions& options, DatasetView& view,
                                         Run& run) {
  if (!has_factors(options) || view.info().elements == 0) return std::nullopt;
  return run.opening.time(0, [&] { return DatasetFactors(options, view, run); });
}

Summary summarize_products(DatasetView& view, const ReduceOptions& options, Run& run,
                           std::vector<StageTiming>& stages) {
  if (view.info().shape.empty())
    run_on_all(run.communicator, [&] {
      throw usage_error(
          "`" + option_of_factors(options) + "` is given for '" + view.info().name + "'",
          "that is a single number as it is selected", "Leave it out, or select some elements.");
    });
  std::vector<int> axes(view.info().shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  const AxisShape all(view.info().shape, axes);
  const ReduceNeeds needs = needs_of_products(options, view.value_type());
  std::vector<std::uint64_t> words(options.statistics.size());
  std::vector<AxisTarget> targets;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Statistic statistic = options.statistics[i];
    targets.push_back({statistic, axis_output_type(statistic, ElementType::f64, std::nullopt),
                       nullptr, reinterpret_cast<std::byte*>(&words[i])});
  }
  AxisWriter writer(targets, {}, options.summary);
  const std::optional<DatasetFactors> factors = factors_of(options, view, run);
  if (factors) {
    while_unchanged(view, run.communicator, [&] {
      stages = reduce_rows(view, all, needs, writer, run, factors->factors());
    });
  } else {
    write_outputs_of_nothing(ElementType::f64, needs, writer, run);
  }
  words = mpi::sum(std::move(words), run.communicator);
  Summary summary;
  for (std::size_t i = 0; i < words.size(); ++i)
    summary.emplace_back(options.statistics[i], is_integer(targets[i].type)
                                                    ? Value(int128{words[i]})
                                                    : Value(std::bit_cast<double>(words[i])));
  return summary;
}

}  // namespace warpfold::pipeline
