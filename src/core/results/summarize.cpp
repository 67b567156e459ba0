#include "core/results/summarize.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/numeric/exact_rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/results/statistic_table.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

int128 wrapped(int128 value, ElementType type) {
  return visit_element_type(type, [value](auto element) -> int128 {
    if constexpr (is_floating_element<decltype(element)>)
      return value;
    else
      return static_cast<decltype(element)>(value);
  });
}

int128 magnitude(int128 value) { return value < 0 ? -value : value; }

constexpr int sum_exponent = -32 * ExactSum::low_limbs;
constexpr int squares_exponent = -32 * ExactSumOfSquares::low_limbs;
static_assert(squares_exponent == 2 * sum_exponent);

}  // namespace

Value largest_magnitude(const Extremum& minimum, const Extremum& maximum, ElementType type) {
  if (!minimum.seen()) return is_integer(type) ? Value(int128{0}) : Value(0.0);
  if (is_integer(type))
    return std::max(magnitude(integer_of_bits(minimum.bits, type)),
                    magnitude(integer_of_bits(maximum.bits, type)));
  return std::max(std::fabs(std::bit_cast<double>(minimum.bits)),
                  std::fabs(std::bit_cast<double>(maximum.bits)));
}

Summarizer::Summarizer(const Accumulator& accumulator, ElementType type,
                       const SummaryOptions& options, Rounding rounding)
    : contents_(accumulator),
      type_(type),
      options_(options),
      rounding_(rounding),
      poisoned_(options.nan == NanPolicy::propagate && accumulator.nan_count > 0),
      count_(accumulator.count -
             (options.nan == NanPolicy::skip ? accumulator.nan_count : std::int64_t{0})) {
  contents_.normalize();
}

double Summarizer::special_sum() const {
  const bool positive = contents_.positive_infinities > 0;
  const bool negative = contents_.negative_infinities > 0;
  if (poisoned_ || (positive && negative)) return quiet_nan;
  if (positive) return infinity;
  if (negative) return -infinity;
  return 0.0;
}

Value Summarizer::sum() const {
  if (is_integer(type_)) {
    const int128 exact = integer_of(contents_.sum);
    return options_.overflow == OverflowPolicy::wrap ? wrapped(exact, type_) : exact;
  }
  const double special = special_sum();
  return special == 0.0 ? contents_.sum.rounded(rounding_) : special;
}

double Summarizer::mean() const {
  if (count_ == 0) return quiet_nan;
  const double special = special_sum();
  if (special != 0.0) return special;
  ExactSum magnitude = contents_.sum;
  const bool negative = magnitude.negative();
  if (negative) magnitude.negate();
  const double mean = rounded_quotient(BigNatural(magnitude), static_cast<uint128>(count_),
                                       sum_exponent, rounding_);
  return negative ? -mean : mean;
}

bool Summarizer::has_variance() const {
  return !poisoned_ && infinity_count() == 0 && static_cast<std::uint64_t>(count_) > options_.ddof;
}

BigNatural Summarizer::scaled_variance() const {
  ExactSum magnitude = contents_.sum;
  if (magnitude.negative()) magnitude.negate();
  const BigNatural sum(magnitude);
  const BigNatural count(static_cast<std::uint64_t>(count_));
  return count * BigNatural(contents_.squares) - sum * sum;
}

uint128 Summarizer::variance_divisor() const {
  const auto count = static_cast<std::uint64_t>(count_);
  return static_cast<uint128>(count) * (count - options_.ddof);
}

double Summarizer::variance() const {
  if (!has_variance()) return quiet_nan;
  return rounded_quotient(scaled_variance(), variance_divisor(), squares_exponent, rounding_);
}

double Summarizer::standard_deviation() const {
  if (!has_variance()) return quiet_nan;
  return rounded_sqrt_quotient(scaled_variance(), variance_divisor(), squares_exponent, rounding_);
}

Value Summarizer::extremum(const Extremum& extremum) const {
  if (poisoned_) return quiet_nan;
  if (!extremum.seen()) return contents_.nan_count > 0 ? Value(quiet_nan) : Value();
  return value_of_bits(extremum.bits, type_);
}

Value Summarizer::index_of(const Extremum& extremum) const {
  if (poisoned_) return int128{contents_.first_nan};
  return extremum.seen() ? Value(int128{extremum.index}) : Value();
}

std::optional<double> Summarizer::special_magnitude() const {
  if (poisoned_) return quiet_nan;
  if (infinity_count() > 0) return infinity;
  return std::nullopt;
}

Value Summarizer::absolute_sum() const {
  if (is_integer(type_))
    return integer_of(is_signed_integer(type_) ? contents_.absolute : contents_.sum);
  if (const auto special = special_magnitude()) return *special;
  return contents_.absolute.rounded(rounding_);
}

double Summarizer::root_of_squares() const {
  if (const auto special = special_magnitude()) return *special;
  return rounded_sqrt_quotient(BigNatural(contents_.squares), 1, squares_exponent, rounding_);
}

Value Summarizer::largest_magnitude() const {
  if (poisoned_) return quiet_nan;
  return warpfold::largest_magnitude(contents_.minimum, contents_.maximum, type_);
}

ReduceNeeds needs_of(const std::vector<Statistic>& statistics, ElementType type) {
  const bool may_be_negative = is_signed_integer(type) || is_floating(type);
  ReduceNeeds needs;
  for (const Statistic statistic : statistics) {
    const StatisticRow& row = row_of(statistic);
    const bool sums_instead = row.sums_unsigned && !may_be_negative;
    needs.sum |= row.needs.sum || sums_instead;
    needs.absolute |= row.needs.absolute && !sums_instead;
    needs.squares |= row.needs.squares;
    needs.extrema |= row.needs.extrema;
  }
  return needs;
}

ReduceNeeds weighted_needs_of(const std::vector<Statistic>& statistics) {
  ReduceNeeds needs = needs_of(statistics, ElementType::f64);
  needs.weighted = true;
  needs.absolute = needs.absolute || needs.sum;
  return needs;
}

Summary summarize(const Accumulator& accumulator, ElementType type,
                  const std::vector<Statistic>& statistics, const SummaryOptions& options,
                  Rounding rounding) {
  const Summarizer summarizer(accumulator, type, options, rounding);
  Summary summary;
  summary.reserve(statistics.size());
  for (const Statistic statistic : statistics)
    summary.emplace_back(statistic, row_of(statistic).of_accumulator(summarizer));
  return summary;
}

const Value& value_of(const Summary& summary, Statistic statistic) {
  const auto found = std::ranges::find(summary, statistic, &Summary::value_type::first);
  if (found != summary.end()) return found->second;
  throw usage_error("the " + std::string(name_of(statistic)) + " is not in the summary", "",
                    "Request it with `statistics`.");
}

}  // namespace warpfold
