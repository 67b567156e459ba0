#pragma once

#include <vector>

#include "core/numeric/rounding.hpp"
#include "core/results/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Tells what a reduction of elements of `type` must accumulate for `statistics`.
ReduceNeeds needs_of(const std::vector<Statistic>& statistics, ElementType type);

/// Tells it of elements that have weights.
ReduceNeeds weighted_needs_of(const std::vector<Statistic>& statistics);

/// Rounds each statistic once, from exact contents: floating-point results are the doubles nearest
/// to the true values of the dataset, or odd ones for those who round them further.
///
/// NaN: propagated, sums and extrema are NaN and argmin, argmax name the first one; skipped, NaN
/// elements are left out of everything, `count` included. Infinities follow IEEE 754. `wrap` takes
/// the sum of integers modulo 2^width in their own type; otherwise it is exact.
Summary summarize(const Accumulator& accumulator, ElementType type,
                  const std::vector<Statistic>& statistics, const SummaryOptions& options,
                  Rounding rounding = Rounding::nearest);

}  // namespace warpfold
