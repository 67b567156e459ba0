#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/results/accumulator.hpp"
#include "core/results/quantile.hpp"
#include "pipeline/datasets/dataset_factors.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// Results are numbers, of all elements in view.
struct ToNumbers {
  static constexpr bool makes_datasets = false;
  std::optional<FactorsOption> factors;
};

/// Results are datasets, of the elements along axes.
struct AlongAxes {
  static constexpr bool makes_datasets = true;
  std::optional<FactorsOption> factors;
  bool reports_labels = false;  ///< numbers of each label instead
};

/// Results are of the elements of each label: datasets where there is an output, or numbers.
struct ByLabels {
  bool makes_datasets = false;
  std::optional<FactorsOption> factors = {};
};

using ReduceTask = std::variant<ToNumbers, AlongAxes, ByLabels>;

/// Returns what the options ask for. Throws a usage Error where they don't go together.
ReduceTask task_of(const ReduceOptions& options);

QuantileSpec quantiles_of(const ReduceOptions& options);

/// Returns whether results are those of all elements.
inline bool is_of_all(const ReduceOptions& options) {
  return options.axes.empty() && options.by.empty();
}

/// Returns how many quantiles are found along axes.
inline std::uint64_t line_quantiles_of(const ReduceOptions& options) {
  return is_of_all(options) ? 0 : options.quantiles.size();
}

/// Returns the type of the results' elements, and their needs, for values of a type.
ElementType type_of_products(const std::optional<FactorsOption>& factors, ElementType values);
ReduceNeeds needs_of_products(const std::vector<Statistic>& statistics,
                              const std::optional<FactorsOption>& factors, ElementType values);

}  // namespace warpfold::pipeline
