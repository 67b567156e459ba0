#pragma once

#include <optional>
#include <vector>

#include "core/results/accumulator.hpp"
#include "pipeline/datasets/dataset_factors.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

/// Reductions of elements multiplied by weights or by another dataset's.
namespace warpfold::pipeline {

bool has_factors(const ReduceOptions& options);

/// Throws a usage Error where factors don't go with the other options, or with a statistic.
void check_factors(const ReduceOptions& options);

/// Returns the type that results are told of, and what they need, of values of a type.
ElementType type_of_products(const ReduceOptions& options, ElementType values);
ReduceNeeds needs_of_products(const ReduceOptions& options, ElementType values);

/// Reads the factors that the options name, if they do, of a view that has elements. Collective.
std::optional<DatasetFactors> factors_of(const ReduceOptions& options, DatasetView& view, Run& run);

/// Reduces all elements of a view; the summary counts on the root alone. Collective; throws the
/// same Error on every rank.
Summary summarize_products(DatasetView& view, const ReduceOptions& options, Run& run,
                           std::vector<StageTiming>& stages);

}  // namespace warpfold::pipeline
