#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/weighted_sums.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

class AxisTotals;
class Summarizer;
struct StatisticRow;

/// Types of results along axes, of elements whose values are of some type.
enum class ResultType : std::uint8_t {
  count,       ///< u64
  index,       ///< i64
  element,     ///< the values' own
  magnitude,   ///< u64 of integers, otherwise the values' own
  sum,         ///< for integers the requested type, by default 64 bits of their signedness
  magnitudes,  ///< for integers the requested type, by default u64
  real         ///< a floating-point type: the one requested, the values' own, or f64
};

/// Results along axes where no element takes part.
enum class OfNothing : std::uint8_t {
  zero,
  zero_or_chosen,  ///< 0, or what `empty` says
  nan,
  fill_value,  ///< SummaryOptions::empty
  minus_one
};

/// Units of results, made of the elements' own.
enum class ResultUnit : std::uint8_t {
  same,
  difference,  ///< unit of differences between elements
  squared,     ///< the square of `difference`
  none         ///< 1, of counts and places: nothing that is said of the elements is true of them
};

/// Factors that elements may have.
enum class AllowedFactors : std::uint8_t { none, weights, any };

/// Statistics of some outputs, to be stored as elements of type `to`.
struct AxisStore {
  const AxisTotals& totals;
  const StatisticRow& statistic;
  const SummaryOptions& options;
  ElementRange outputs;
  ElementType to;
  std::byte* out;
};

/// Stores what summarize() makes of each output's accumulator. Returns the number of results
/// stored, up to the first that the type can't hold.
std::uint64_t store_summarized(const AxisStore& store);

/// A row of the table of statistics: everything that is known of one.
struct StatisticRow {
  Statistic statistic;
  std::string_view name;
  std::string_view other_names = {};  ///< in other programs, separated by spaces

  ReduceNeeds needs = {};
  bool sums_unsigned = false;  ///< `sum` suffices for unsigned integers in place of `absolute`
  AllowedFactors factors = AllowedFactors::none;
  bool takes_ddof = false;
  bool takes_overflow = false;  ///< OverflowPolicy decides about integers

  ResultType type = ResultType::real;
  OfNothing of_nothing = OfNothing::zero;
  ResultUnit unit = ResultUnit::same;
  const char* cell_method = nullptr;  ///< CF's name of it in `cell_methods`
  const char* prefix = nullptr;  ///< put before the input's long_name, where that alone is false

  /// Returns the result of an accumulator.
  Value (*of_accumulator)(const Summarizer& summarizer);

  /// Stores results along axes, as store_summarized() does but faster.
  std::uint64_t (*along_axes)(const AxisStore& store) = store_summarized;

  /// Return the result of finite elements that have weights, and that of finite products.
  double (*of_weighted)(const WeightedSums& sums, Rounding rounding) = nullptr;
  double (*of_products)(const ExactSumOfSquares& sum, std::uint64_t count,
                        Rounding rounding) = nullptr;

  bool is_extremum() const { return type == ResultType::element; }
  bool is_index() const { return type == ResultType::index; }
  bool takes_empty() const { return is_extremum() || of_nothing == OfNothing::zero_or_chosen; }
};

/// Returns all rows, in the order in which messages list them.
std::span<const StatisticRow> statistic_table();

const StatisticRow& row_of(Statistic statistic);

}  // namespace warpfold
