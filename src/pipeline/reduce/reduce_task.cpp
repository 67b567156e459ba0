#include "pipeline/reduce/reduce_task.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/base/text.hpp"
#include "core/results/statistic_table.hpp"
#include "core/results/summarize.hpp"
#include "pipeline/datasets/axis_labels.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::size_t most_quantiles = 1024;

void require_quantiles(const ReduceOptions& options) {
  if (options.quantiles.size() > most_quantiles)
    throw usage_error(std::to_string(options.quantiles.size()) + " quantiles are asked for", "",
                      "Ask for at most " + std::to_string(most_quantiles) + ".");
  for (const double fraction : options.quantiles) {
    if (!(fraction >= 0 && fraction <= 1))
      throw usage_error("a quantile is not between 0 and 1", "", "Give its fraction.");
    if (!options.axes.empty() && std::ranges::count(options.quantiles, fraction) > 1)
      throw usage_error(quantile_name(fraction) + " is asked for by two names",
                        "each quantile along axes is a dataset", "Leave out one of them.");
  }
}

void require_groups(const ReduceOptions& options) {
  const bool by_labels = options.axes.empty() && !options.by.empty();
  if (by_labels && !options.quantiles.empty())
    throw usage_error("`by` is given along with quantiles, and no axis",
                      "they are found of all elements, or along axes",
                      "Leave out one of them, or name an axis.");
  if (!options.by.empty() && options.every > 0)
    throw usage_error("both `by` and `every` are given", "either makes the groups",
                      "Leave out one of them.");
  if (by_labels && is_part_of_time(options.by))
    throw usage_error("`by` is " + options.by + ", and no axis is given",
                      "it is a part of the times along an axis",
                      "Name that with `axis`, or a dataset so called as './" + options.by + "'.");
}

void require_statistics_of(const FactorsOption& factors, const std::vector<Statistic>& statistics) {
  const auto allows = [&](const StatisticRow& row) {
    return row.factors == AllowedFactors::any ||
           (row.factors == AllowedFactors::weights && factors.are_weights);
  };
  const auto refused = std::ranges::find_if_not(statistics, allows, row_of);
  if (refused == statistics.end()) return;
  std::vector<std::string> names;
  for (const StatisticRow& row : statistic_table())
    if (allows(row)) names.emplace_back(row.name);
  throw usage_error(
      "there is no " + std::string(name_of(*refused)) + " with `" + factors.name + "`", "",
      "Ask for some of " + joined(names, ", ") + ".");
}

void require_factors(const ReduceOptions& options) {
  if (options.weights.empty() &&
      std::ranges::count(options.statistics, Statistic::sum_of_weights) > 0)
    throw usage_error("sum_of_weights is asked for, and no weights are given", "",
                      "Name them with `weights`.");
  const std::optional<FactorsOption> factors = factors_option(options);
  if (!factors) return;
  if (!options.weights.empty() && !options.times.empty())
    throw usage_error("both `weights` and `times` are given", "", "Leave out one of them.");
  if (!options.quantiles.empty())
    throw usage_error("quantiles are asked for with `" + factors->name + "`",
                      "they are found of elements that count alike", "Leave out one of them.");
  if (options.axes.empty() && !options.by.empty())
    throw usage_error("`by` is given with `" + factors->name + "`",
                      "the elements of labels are reduced as they are",
                      "Leave out one of them, or name an axis.");
  if (factors->are_weights && options.summary.ddof != 0)
    throw usage_error("`ddof` is given with `weights`",
                      "a weighted variance is divided by the sum of weights", "Leave out `ddof`.");
  require_statistics_of(*factors, options.statistics);
}

}  // namespace

ReduceTask task_of(const ReduceOptions& options) {
  require_groups(options);
  require_factors(options);
  require_quantiles(options);
  if (!options.axes.empty()) return AlongAxes{factors_option(options)};
  if (!options.by.empty()) return ByLabels{!options.output.path.empty()};
  return ToNumbers{factors_option(options)};
}

QuantileSpec quantiles_of(const ReduceOptions& options) {
  return {options.quantiles, options.quantile_method, options.summary.nan};
}

ElementType type_of_products(const std::optional<FactorsOption>& factors, ElementType values) {
  return factors && is_integer(values) ? ElementType::f64 : values;
}

ReduceNeeds needs_of_products(const std::vector<Statistic>& statistics,
                              const std::optional<FactorsOption>& factors, ElementType values) {
  return factors && factors->are_weights ? weighted_needs_of(statistics)
                                         : needs_of(statistics, type_of_products(factors, values));
}

}  // namespace warpfold::pipeline
