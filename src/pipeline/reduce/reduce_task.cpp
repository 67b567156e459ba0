#include "pipeline/reduce/reduce_task.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/base/text.hpp"
#include "core/results/statistic_table.hpp"
#include "core/results/summarize.hpp"
#include "core/values/time_windows.hpp"
#include "pipeline/datasets/axis_labels.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::size_t most_quantiles = 1024;

void require_quantiles(const ReduceOptions& options) {
  if (options.quantiles.size() > most_quantiles)
    throw usage_error(std::to_string(options.quantiles.size()) + " quantiles are requested", "",
                      "Request at most " + std::to_string(most_quantiles) + ".");
  for (const double fraction : options.quantiles) {
    if (!(fraction >= 0 && fraction <= 1))
      throw usage_error("a quantile is not between 0 and 1", "", "Give fractions from 0 to 1.");
    if (!is_of_all(options) && std::ranges::count(options.quantiles, fraction) > 1)
      throw usage_error(quantile_name(fraction) + " is requested by two names",
                        "each quantile along axes or by labels is a dataset", "Omit one of them.");
  }
}

void require_groups(const ReduceOptions& options) {
  const bool by_labels = options.axes.empty() && !options.by.empty();
  if (!options.by.empty() && options.every.is_given())
    throw usage_error("both `by` and `every` are given", "both define groups", "Omit one of them.");
  if (options.places == Places::coordinates && options.axes.empty() &&
      (options.by.empty() || options.output.path.empty()))
    throw usage_error("`places` needs an axis, or labels with an output",
                      "without them places are numbers, which are reported with their indices",
                      "Name an axis, or omit it.");
  if (!options.every.window.empty()) window_length(options.every.window);
  if (options.complete && options.every.window.empty())
    throw usage_error("`complete` needs windows of time", "other groups are of no length in time",
                      "Name the windows with `every`, such as month, or omit it.");
  if (by_labels && is_part_of_time(options.by))
    throw usage_error(
        "`by` " + options.by + " needs an axis", "it is a part of the times along an axis",
        "Name the axis with `axis`, or a dataset of that name as './" + options.by + "'.");
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
  throw usage_error("`" + factors.name + "` does not support " + std::string(name_of(*refused)), "",
                    "Choose from " + joined(names, ", ") + ".");
}

void require_factors(const ReduceOptions& options) {
  if (options.weights.empty() &&
      std::ranges::count(options.statistics, Statistic::sum_of_weights) > 0)
    throw usage_error("sum_of_weights needs weights", "", "Name them with `weights`.");
  const std::optional<FactorsOption> factors = factors_option(options);
  if (!factors) return;
  if (!options.weights.empty() && !options.times.empty())
    throw usage_error("both `weights` and `times` are given", "", "Omit one of them.");
  if (!options.quantiles.empty())
    throw usage_error("`" + factors->name + "` does not support quantiles",
                      "their elements all count alike", "Omit one of them.");
  if (factors->are_weights && options.summary.ddof != 0)
    throw usage_error("`weights` does not support `ddof`",
                      "a weighted variance is divided by the sum of weights", "Omit `ddof`.");
  require_statistics_of(*factors, options.statistics);
}

}  // namespace

ReduceTask task_of(const ReduceOptions& options) {
  require_groups(options);
  require_factors(options);
  require_quantiles(options);
  if (!options.axes.empty()) return AlongAxes{factors_option(options)};
  if (!options.by.empty()) return ByLabels{!options.output.path.empty(), factors_option(options)};
  return ToNumbers{factors_option(options)};
}

QuantileSpec quantiles_of(const ReduceOptions& options) {
  return {options.quantiles, options.quantile_method, options.summary.nan, options.min_count};
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
