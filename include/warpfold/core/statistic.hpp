#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpfold {

/// A number computed from a dataset. Each is rounded once from exact sums: floating-point results
/// are the doubles nearest to the true values.
enum class Statistic : std::uint8_t {
  count,          ///< number of elements that are not excluded
  sum,            ///< 0 without elements
  mean,           ///< sum / count
  var,            ///< variance, divided by count - SummaryOptions::ddof
  std,            ///< square root of the variance
  min,            ///< in the elements' type
  max,            ///< in the elements' type
  argmin,         ///< lowest flat index, row-major, of a minimum
  argmax,         ///< lowest flat index, row-major, of a maximum
  l1,             ///< sum of magnitudes
  l2,             ///< square root of the sum of squares
  linf,           ///< greatest magnitude
  nan_count,      ///< number of elements that are NaN
  inf_count,      ///< number of elements that are infinite
  sum_of_weights  ///< sum of weights of elements that are not NaN; only with weights
};

/// All statistics of unweighted elements.
inline constexpr Statistic all_statistics[] = {
    Statistic::count, Statistic::sum,  Statistic::mean,      Statistic::var,      Statistic::std,
    Statistic::min,   Statistic::max,  Statistic::argmin,    Statistic::argmax,   Statistic::l1,
    Statistic::l2,    Statistic::linf, Statistic::nan_count, Statistic::inf_count};

/// Returns the name of a statistic: that of its enumerator.
std::string_view name_of(Statistic statistic);

/// Parses "sum,min,max" or "all" (all_statistics), in this order, without duplicates. Throws a
/// usage Error that lists the names for an unknown one.
std::vector<Statistic> parse_statistics(std::string_view names);

}  // namespace warpfold
