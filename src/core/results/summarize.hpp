#pragma once

#include <optional>
#include <vector>

#include "core/numeric/big_natural.hpp"
#include "core/numeric/rounding.hpp"
#include "core/results/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Returns what a reduction of elements of `type` must accumulate for `statistics`.
ReduceNeeds needs_of(const std::vector<Statistic>& statistics, ElementType type);

/// Tells it of elements that have weights.
ReduceNeeds weighted_needs_of(const std::vector<Statistic>& statistics);

/// Returns the largest magnitude of elements of these extrema; 0 of none.
Value largest_magnitude(const Extremum& minimum, const Extremum& maximum, ElementType type);

/// Makes each statistic of an accumulator's contents, as summarize() says.
class Summarizer {
 public:
  Summarizer(const Accumulator& accumulator, ElementType type, const SummaryOptions& options,
             Rounding rounding);

  const Accumulator& contents() const { return contents_; }
  Rounding rounding() const { return rounding_; }

  /// Returns the number of elements that take part.
  int128 count() const { return count_; }
  int128 infinity_count() const {
    return contents_.positive_infinities + contents_.negative_infinities;
  }
  Value sum() const;
  double mean() const;
  double variance() const;
  double standard_deviation() const;
  Value extremum(const Extremum& extremum) const;
  Value index_of(const Extremum& extremum) const;
  Value absolute_sum() const;
  double root_of_squares() const;
  Value largest_magnitude() const;

 private:
  /// Returns what NaN and infinities make of a sum; zero where there are none.
  double special_sum() const;

  /// Returns the same of a sum of magnitudes; nothing where there are none.
  std::optional<double> special_magnitude() const;

  /// Returns whether the variance is a number.
  bool has_variance() const;

  /// Returns count^2 * the variance * 2^(32 * ExactSumOfSquares::low_limbs) where ddof is 0.
  BigNatural scaled_variance() const;
  uint128 variance_divisor() const;

  Accumulator contents_;
  ElementType type_;
  SummaryOptions options_;
  Rounding rounding_;
  bool poisoned_;       ///< NaN among the elements makes the results NaN
  std::int64_t count_;  ///< number of elements that take part
};

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
