#pragma once

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"

namespace warpfold {

/// Exact sums of elements that have weights, which are finite, none negative; normalized.
struct WeightedSums {
  ExactSum weights;
  ExactSumOfSquares products;  ///< products of elements and weights
  ExactSumOfWeightedSquares squares;
};

/// Return the sum of products over that of weights, the variance around that mean, and its root,
/// rounded once; NaN where the weights' sum is zero.
double weighted_mean(const WeightedSums& sums, Rounding rounding);
double weighted_variance(const WeightedSums& sums, Rounding rounding);
double weighted_deviation(const WeightedSums& sums, Rounding rounding);

/// Returns a sum of products over a count, rounded once.
double mean_of_products(const ExactSumOfSquares& sum, std::uint64_t count, Rounding rounding);

}  // namespace warpfold
