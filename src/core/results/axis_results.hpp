#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "core/numeric/exact_rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/results/axis_totals.hpp"
#include "core/results/estimates.hpp"
#include "core/results/statistic_table.hpp"
#include "core/results/summarize.hpp"
#include "core/values/ordered_key.hpp"

namespace warpfold {

/// Results are statistics of outputs as elements of type Out, nothing where Out can't hold them.
template <class Out>
class AxisResults {
 public:
  explicit AxisResults(const AxisStore& store)
      : totals_(store.totals),
        parts_(store.totals.parts()),
        values_(store.totals.values()),
        statistic_(store.statistic),
        options_(store.options),
        weighted_(store.totals.needs().weighted),
        wraps_(std::is_integral_v<Out> && store.options.overflow == OverflowPolicy::wrap) {
    // The type to wrap in is Out, not the elements'.
    options_.overflow = OverflowPolicy::error;
  }

  std::optional<Out> count(std::uint64_t output) const {
    return element(int128{taking_part(parts_.counts[output])});
  }

  std::optional<Out> nan_count(std::uint64_t output) const {
    return element(int128{parts_.counts[output].nan});
  }

  std::optional<Out> infinity_count(std::uint64_t output) const {
    return element(int128{infinities(parts_.counts[output])});
  }

  std::optional<Out> sum(std::uint64_t output) const {
    if (wraps_) return wrapped_sum(output);
    return has_plain_sum(output) ? element(parts_.sum[output]) : summarized(output);
  }

  std::optional<Out> mean(std::uint64_t output) const {
    if (!has_plain_sum(output)) return summarized(output);
    const std::uint64_t count = taking_part(parts_.counts[output]);
    if (count == 0) return element(quiet_nan);
    if (weighted_ && parts_.spills.any_of_absolute(output)) return summarized(output);
    if (!weighted_)
      if (const auto simple = simple_quotient<Out>(parts_.sum[output], count))
        return element(*simple);
    const auto quotient =
        weighted_
            ? rounded_quotient(parts_.sum[output], parts_.absolute[output], rounding_towards<Out>)
            : rounded_quotient(parts_.sum[output], count, rounding_towards<Out>);
    return quotient ? element(*quotient) : summarized(output);
  }

  std::optional<Out> weights(std::uint64_t output) const {
    return parts_.spills.any_of_absolute(output) ? summarized(output)
                                                 : element(parts_.absolute[output]);
  }

  std::optional<Out> absolute_sum(std::uint64_t output) const {
    const bool is_plain =
        is_floating(values_) && all_finite(output) && !parts_.spills.any_of_absolute(output);
    return is_plain ? element(parts_.absolute[output]) : summarized(output);
  }

  std::optional<Out> minimum(std::uint64_t output) const {
    return extremum(output, parts_.minimum[output]);
  }

  std::optional<Out> maximum(std::uint64_t output) const {
    return extremum(output, parts_.maximum[output]);
  }

  std::optional<Out> argmin(std::uint64_t output) const {
    return index(output, parts_.minimum[output]);
  }

  std::optional<Out> argmax(std::uint64_t output) const {
    return index(output, parts_.maximum[output]);
  }

  std::optional<Out> largest_magnitude(std::uint64_t output) const {
    if (poisoned(output)) return element(quiet_nan);
    return element(
        warpfold::largest_magnitude(parts_.minimum[output], parts_.maximum[output], values_));
  }

  std::optional<Out> variance(std::uint64_t output) const {
    return estimated(output, [&] { return variance_estimate_of(output); });
  }

  std::optional<Out> deviation(std::uint64_t output) const {
    return estimated(output, [&] { return root_of(variance_estimate_of(output)); });
  }

  std::optional<Out> norm(std::uint64_t output) const {
    return estimated(output, [&]() -> std::optional<Estimate> {
      if (weighted_ || parts_.spills.any(output)) return std::nullopt;
      return root_of(estimate_of(parts_.squares[output]));
    });
  }

  /// Returns what is made of the output's accumulator.
  std::optional<Out> summarized(std::uint64_t output) const { return element(summary(output)); }

 private:
  static std::optional<Out> element(int128 value) {
    if (!can_hold<Out>(value)) return std::nullopt;
    return output_element<Out>(value);
  }

  static std::optional<Out> element(double value) {
    if constexpr (is_floating_element<Out>)
      return output_element<Out>(value);
    else
      return std::nullopt;
  }

  static std::optional<Out> element(std::monostate) { return element(quiet_nan); }

  static std::optional<Out> element(const Value& value) {
    return std::visit([](const auto& held) { return element(held); }, value);
  }

  static std::optional<Out> element(const Expansion& sum) {
    if constexpr (is_floating_element<Out>)
      return rounded_to<Out>(sum);
    else
      return element(whole_number(sum));
  }

  std::uint64_t taking_part(const AxisCounts& counts) const {
    return counts.elements - (options_.nan == NanPolicy::skip ? counts.nan : 0);
  }

  static std::uint64_t infinities(const AxisCounts& counts) {
    return counts.positive_infinities + counts.negative_infinities;
  }

  bool poisoned(std::uint64_t output) const {
    return options_.nan == NanPolicy::propagate && parts_.counts[output].nan > 0;
  }

  bool all_finite(std::uint64_t output) const {
    return !poisoned(output) && infinities(parts_.counts[output]) == 0;
  }

  bool has_plain_sum(std::uint64_t output) const {
    return all_finite(output) && !parts_.spills.any_of_sum(output);
  }

  std::optional<Out> wrapped_sum(std::uint64_t output) const {
    const int128 exact = has_plain_sum(output) ? whole_number(parts_.sum[output])
                                               : std::get<int128>(summary(output));
    return output_element<Out>(exact);
  }

  /// Rounds what estimate() gives by doubles, where these suffice for that.
  template <class MakeEstimate>
  std::optional<Out> estimated(std::uint64_t output, MakeEstimate&& estimate) const {
    if constexpr (is_floating_element<Out>)
      if (all_finite(output))
        if (const auto result = rounded_to<Out>(estimate())) return result;
    return summarized(output);
  }

  std::optional<Estimate> variance_estimate_of(std::uint64_t output) const {
    const bool spilled = parts_.spills.any(output);
    if (weighted_ && spilled) {
      const WeightedSums sums = totals_.weighted_sums(output);
      return variance_estimate(leading_part(sums.weights), leading_part(sums.products),
                               leading_part(sums.squares));
    }
    const Expansion& sum = parts_.sum[output];
    const Expansion& squares = parts_.squares[output];
    if (weighted_)
      return variance_estimate({normalized(parts_.absolute[output])}, {normalized(sum)},
                               {normalized(squares)});
    const std::uint64_t count = taking_part(parts_.counts[output]);
    if (spilled || count <= options_.ddof) return std::nullopt;
    return variance_estimate(sum, squares, count, options_.ddof);
  }

  std::optional<Out> extremum(std::uint64_t output, const Extremum& extremum) const {
    if (poisoned(output)) return element(quiet_nan);
    return element(extremum.seen() ? value_of_bits(extremum.bits, values_) : options_.empty);
  }

  std::optional<Out> index(std::uint64_t output, const Extremum& extremum) const {
    if (poisoned(output)) return element(int128{parts_.first_nan[output]});
    return element(extremum.seen() ? int128{extremum.index} : int128{-1});
  }

  /// Returns the result of elements that have factors, where plain sums don't give it.
  std::optional<double> of_factors(std::uint64_t output) const {
    constexpr Rounding rounding = rounding_towards<Out>;
    if (!all_finite(output)) return std::nullopt;
    if (weighted_ && statistic_.of_weighted != nullptr)
      return statistic_.of_weighted(totals_.weighted_sums(output), rounding);
    if (statistic_.of_products == nullptr || !parts_.spills.any_product(output))
      return std::nullopt;
    return statistic_.of_products(totals_.weighted_sums(output).products,
                                  taking_part(parts_.counts[output]), rounding);
  }

  Value summary(std::uint64_t output) const {
    if (const auto value = of_factors(output)) return *value;
    return statistic_.of_accumulator(
        {totals_.accumulator(output), values_, options_, rounding_towards<Out>});
  }

  const AxisTotals& totals_;
  const AxisParts& parts_;
  ElementType values_;
  const StatisticRow& statistic_;
  SummaryOptions options_;
  bool weighted_;
  bool wraps_;
};

}  // namespace warpfold
