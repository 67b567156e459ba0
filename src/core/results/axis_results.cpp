#include "core/results/axis_totals.hpp"

#include <string>
#include <type_traits>
#include <variant>

#include "core/numeric/exact_rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/results/estimates.hpp"
#include "core/results/summarize.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

/// Makes results elements of type Out; nothing where it can't hold them.
template <class Out>
std::optional<Out> element(int128 value) {
  if (!can_hold<Out>(value)) return std::nullopt;
  return output_element<Out>(value);
}

template <class Out>
std::optional<Out> element(double value) {
  if constexpr (is_floating_element<Out>)
    return output_element<Out>(value);
  else
    return std::nullopt;
}

template <class Out>
std::optional<Out> element(std::monostate) {
  return element<Out>(quiet_nan);
}

template <class Out>
std::optional<Out> element(const Expansion& sum) {
  if constexpr (is_floating_element<Out>)
    return rounded_to<Out>(sum);
  else
    return element<Out>(whole_number(sum));
}

/// Results are one statistic of outputs as elements of type Out, nothing where Out can't hold it.
template <class Out>
class Results {
 public:
  Results(const AxisTotals& totals, const AxisParts& parts, ElementType values, Statistic statistic,
          const SummaryOptions& options, bool weighted)
      : totals_(totals),
        parts_(parts),
        values_(values),
        statistic_(statistic),
        options_(options),
        weighted_(weighted),
        wraps_(std::is_integral_v<Out> && options.overflow == OverflowPolicy::wrap) {
    // The type to wrap in is Out, not the elements'.
    options_.overflow = OverflowPolicy::error;
  }

  std::optional<Out> of(std::uint64_t output) const {
    const AxisCounts& counts = parts_.counts[output];
    switch (statistic_) {
      case Statistic::count:
        return element<Out>(int128{taking_part(counts)});
      case Statistic::nan_count:
        return element<Out>(int128{counts.nan});
      case Statistic::inf_count:
        return element<Out>(int128{infinities(counts)});
      case Statistic::sum:
        return wraps_ ? wrapped_sum(output) : sum(output);
      case Statistic::mean:
        return has_plain_sum(output) ? mean(output) : summarized(output);
      case Statistic::sum_of_weights:
        return parts_.spills.any_of_absolute(output) ? summarized(output)
                                                     : element<Out>(parts_.absolute[output]);
      case Statistic::l1:
        return has_plain_absolute(output) ? element<Out>(parts_.absolute[output])
                                          : summarized(output);
      case Statistic::min:
        return extremum(counts, parts_.minimum[output]);
      case Statistic::max:
        return extremum(counts, parts_.maximum[output]);
      case Statistic::argmin:
        return index(output, parts_.minimum[output]);
      case Statistic::argmax:
        return index(output, parts_.maximum[output]);
      case Statistic::var:
      case Statistic::std:
      case Statistic::l2:
        if (const auto result = estimated(output)) return result;
        break;
      case Statistic::linf:
        break;
    }
    return summarized(output);
  }

 private:
  std::uint64_t taking_part(const AxisCounts& counts) const {
    return counts.elements - (options_.nan == NanPolicy::skip ? counts.nan : 0);
  }

  static std::uint64_t infinities(const AxisCounts& counts) {
    return counts.positive_infinities + counts.negative_infinities;
  }

  bool poisoned(const AxisCounts& counts) const {
    return options_.nan == NanPolicy::propagate && counts.nan > 0;
  }

  bool all_finite(const AxisCounts& counts) const {
    return !poisoned(counts) && infinities(counts) == 0;
  }

  bool has_plain_sum(std::uint64_t output) const {
    return all_finite(parts_.counts[output]) && !parts_.spills.any_of_sum(output);
  }

  bool has_plain_absolute(std::uint64_t output) const {
    return is_floating(values_) && all_finite(parts_.counts[output]) &&
           !parts_.spills.any_of_absolute(output);
  }

  std::optional<Out> sum(std::uint64_t output) const {
    return has_plain_sum(output) ? element<Out>(parts_.sum[output]) : summarized(output);
  }

  std::optional<Out> wrapped_sum(std::uint64_t output) const {
    const int128 exact = has_plain_sum(output) ? whole_number(parts_.sum[output])
                                               : std::get<int128>(summary(output));
    return output_element<Out>(exact);
  }

  std::optional<Out> mean(std::uint64_t output) const {
    const std::uint64_t count = taking_part(parts_.counts[output]);
    if (count == 0) return element<Out>(quiet_nan);
    if (weighted_ && parts_.spills.any_of_absolute(output)) return summarized(output);
    const auto quotient =
        weighted_
            ? rounded_quotient(parts_.sum[output], parts_.absolute[output], rounding_towards<Out>)
            : rounded_quotient(parts_.sum[output], count, rounding_towards<Out>);
    return quotient ? element<Out>(*quotient) : summarized(output);
  }

  /// Returns a variance or root by doubles; nothing where these are too few to round it.
  std::optional<Out> estimated(std::uint64_t output) const {
    if constexpr (is_floating_element<Out>) {
      if (!all_finite(parts_.counts[output])) return std::nullopt;
      if (statistic_ == Statistic::var) return rounded_to<Out>(variance(output));
      if (statistic_ == Statistic::std) return rounded_to<Out>(root_of(variance(output)));
      if (weighted_ || parts_.spills.any(output)) return std::nullopt;
      return rounded_to<Out>(root_of(estimate_of(parts_.squares[output])));
    } else {
      return std::nullopt;
    }
  }

  std::optional<Estimate> variance(std::uint64_t output) const {
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

  std::optional<Out> extremum(const AxisCounts& counts, const Extremum& extremum) const {
    if (poisoned(counts)) return element<Out>(quiet_nan);
    if (!extremum.seen()) return element_of(options_.empty);
    return element_of(value_of_bits(extremum.bits, values_));
  }

  std::optional<Out> index(std::uint64_t output, const Extremum& extremum) const {
    if (poisoned(parts_.counts[output])) return element<Out>(int128{parts_.first_nan[output]});
    return element<Out>(extremum.seen() ? int128{extremum.index} : int128{-1});
  }

  /// What summary() is of products, where plain sums don't tell; nothing where they do.
  std::optional<double> of_products(std::uint64_t output) const {
    const AxisCounts& counts = parts_.counts[output];
    constexpr Rounding rounding = rounding_towards<Out>;
    if (!all_finite(counts) || statistic_ == Statistic::sum_of_weights) return std::nullopt;
    if (weighted_ && statistic_ == Statistic::var)
      return weighted_variance(totals_.weighted_sums(output), rounding);
    if (weighted_ && statistic_ == Statistic::std)
      return weighted_deviation(totals_.weighted_sums(output), rounding);
    if (weighted_ && statistic_ == Statistic::mean)
      return weighted_mean(totals_.weighted_sums(output), rounding);
    if (!parts_.spills.any_product(output)) return std::nullopt;
    const ExactSumOfSquares sum = totals_.weighted_sums(output).products;
    if (statistic_ == Statistic::sum) return sum.rounded(rounding);
    return mean_of_products(sum, taking_part(counts), rounding);
  }

  Value summary(std::uint64_t output) const {
    if (const auto value = of_products(output)) return *value;
    return summarize(totals_.accumulator(output), values_, {statistic_}, options_,
                     rounding_towards<Out>)
        .front()
        .second;
  }

  std::optional<Out> summarized(std::uint64_t output) const { return element_of(summary(output)); }

  static std::optional<Out> element_of(const Value& value) {
    return std::visit([](const auto& held) { return element<Out>(held); }, value);
  }

  const AxisTotals& totals_;
  const AxisParts& parts_;
  ElementType values_;
  Statistic statistic_;
  SummaryOptions options_;
  bool weighted_;
  bool wraps_;
};

Error no_result(Statistic statistic, ElementType to, std::uint64_t output) {
  return Error("the " + std::string(name_of(statistic)) + " of output " + std::to_string(output) +
                   " doesn't fit " + std::string(name_of(to)),
               "",
               statistic == Statistic::sum ? "Choose `output_type` f64, or `overflow` wrap."
                                           : "Choose `output_type` f64.");
}

}  // namespace

ElementType axis_output_type(Statistic statistic, ElementType value,
                             std::optional<ElementType> asked) {
  switch (statistic) {
    case Statistic::count:
    case Statistic::nan_count:
    case Statistic::inf_count:
      return ElementType::u64;
    case Statistic::argmin:
    case Statistic::argmax:
      return ElementType::i64;
    case Statistic::min:
    case Statistic::max:
      return value;
    case Statistic::linf:
      return is_integer(value) ? ElementType::u64 : value;
    case Statistic::sum:
      if (is_floating(value)) break;
      return asked.value_or(is_signed_integer(value) ? ElementType::i64 : ElementType::u64);
    case Statistic::l1:
      if (is_floating(value)) break;
      return asked.value_or(ElementType::u64);
    case Statistic::mean:
    case Statistic::var:
    case Statistic::std:
    case Statistic::l2:
    case Statistic::sum_of_weights:
      break;
  }
  if (asked && is_integer(*asked))
    throw usage_error(
        "the " + std::string(name_of(statistic)) + " of " + std::string(name_of(value)) +
            " can't be stored as " + std::string(name_of(*asked)),
        "it is a floating-point number", "Choose one of f16, bf16, f32, f64 as `output_type`.");
  return asked.value_or(is_floating(value) ? value : ElementType::f64);
}

void AxisTotals::store(Statistic statistic, const SummaryOptions& options, ElementRange outputs,
                       std::uint64_t first_output, ElementType to, std::byte* out) const {
  visit_element_type(to, [&](auto zero) {
    using Out = decltype(zero);
    const Results<Out> results(*this, parts_, values_, statistic, options, needs_.weighted);
    auto* elements = reinterpret_cast<Out*>(out);
    for (std::uint64_t i = 0; i < outputs.count; ++i) {
      const std::uint64_t output = outputs.first + i;
      const std::optional<Out> result = results.of(output);
      if (!result) throw no_result(statistic, to, first_output + output);
      elements[i] = *result;
    }
  });
}

}  // namespace warpfold
