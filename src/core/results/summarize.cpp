#include "core/results/summarize.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/numeric/big_natural.hpp"
#include "core/numeric/exact_rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/values/ordered_key.hpp"

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

class Summarizer {
 public:
  Summarizer(const Accumulator& accumulator, ElementType type, const SummaryOptions& options,
             Rounding rounding)
      : contents_(accumulator),
        type_(type),
        options_(options),
        rounding_(rounding),
        poisoned_(options.nan == NanPolicy::propagate && accumulator.nan_count > 0),
        count_(accumulator.count -
               (options.nan == NanPolicy::skip ? accumulator.nan_count : std::int64_t{0})) {
    contents_.normalize();
  }

  Value value(Statistic statistic) const;

 private:
  Value sum() const;
  double mean() const;
  double variance() const;
  double standard_deviation() const;
  Value extremum(const Extremum& extremum) const;
  Value extremum_index(const Extremum& extremum) const;
  Value absolute_sum() const;
  double root_of_squares() const;
  Value largest_magnitude() const;

  std::int64_t infinities() const {
    return contents_.positive_infinities + contents_.negative_infinities;
  }

  /// Returns what NaN and infinities make of a sum; zero where there are none.
  double special_sum() const;

  /// Tells whether the variance is a number.
  bool has_variance() const;

  /// Returns count^2 * the variance * 2^(32 * ExactSumOfSquares::low_limbs) where ddof is 0.
  BigNatural scaled_variance() const;
  uint128 variance_divisor() const;

  Accumulator contents_;
  ElementType type_;
  SummaryOptions options_;
  Rounding rounding_;
  bool poisoned_;       ///< NaN among the elements makes the results NaN
  std::int64_t count_;  ///< of the elements that take part
};

constexpr int sum_exponent = -32 * ExactSum::low_limbs;
constexpr int squares_exponent = -32 * ExactSumOfSquares::low_limbs;
static_assert(squares_exponent == 2 * sum_exponent);

Value Summarizer::value(Statistic statistic) const {
  switch (statistic) {
    case Statistic::count:
      return int128{count_};
    case Statistic::sum:
      return sum();
    case Statistic::mean:
      return mean();
    case Statistic::var:
      return variance();
    case Statistic::std:
      return standard_deviation();
    case Statistic::min:
      return extremum(contents_.minimum);
    case Statistic::max:
      return extremum(contents_.maximum);
    case Statistic::argmin:
      return extremum_index(contents_.minimum);
    case Statistic::argmax:
      return extremum_index(contents_.maximum);
    case Statistic::l1:
      return absolute_sum();
    case Statistic::l2:
      return root_of_squares();
    case Statistic::linf:
      return largest_magnitude();
    case Statistic::nan_count:
      return int128{contents_.nan_count};
    case Statistic::sum_of_weights:
      return contents_.absolute.rounded(rounding_);
    case Statistic::inf_count:
      break;
  }
  return int128{infinities()};
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
  return !poisoned_ && infinities() == 0 && static_cast<std::uint64_t>(count_) > options_.ddof;
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

Value Summarizer::extremum_index(const Extremum& extremum) const {
  if (poisoned_) return int128{contents_.first_nan};
  return extremum.seen() ? Value(int128{extremum.index}) : Value();
}

Value Summarizer::absolute_sum() const {
  if (is_integer(type_))
    return integer_of(is_signed_integer(type_) ? contents_.absolute : contents_.sum);
  if (poisoned_) return quiet_nan;
  return infinities() > 0 ? infinity : contents_.absolute.rounded(rounding_);
}

double Summarizer::root_of_squares() const {
  if (poisoned_) return quiet_nan;
  if (infinities() > 0) return infinity;
  return rounded_sqrt_quotient(BigNatural(contents_.squares), 1, squares_exponent, rounding_);
}

Value Summarizer::largest_magnitude() const {
  const Extremum& minimum = contents_.minimum;
  const Extremum& maximum = contents_.maximum;
  if (poisoned_) return quiet_nan;
  if (!minimum.seen()) return is_integer(type_) ? Value(int128{0}) : Value(0.0);
  if (is_integer(type_))
    return std::max(magnitude(integer_of_bits(minimum.bits, type_)),
                    magnitude(integer_of_bits(maximum.bits, type_)));
  return std::max(std::fabs(std::bit_cast<double>(minimum.bits)),
                  std::fabs(std::bit_cast<double>(maximum.bits)));
}

void require(ReduceNeeds& needs, Statistic statistic, ElementType type) {
  const bool may_be_negative = is_signed_integer(type) || is_floating(type);
  switch (statistic) {
    case Statistic::count:
    case Statistic::nan_count:
    case Statistic::inf_count:
      break;
    case Statistic::sum:
    case Statistic::mean:
      needs.sum = true;
      break;
    case Statistic::var:
    case Statistic::std:
      needs.sum = true;
      needs.squares = true;
      break;
    case Statistic::min:
    case Statistic::max:
    case Statistic::argmin:
    case Statistic::argmax:
    case Statistic::linf:
      needs.extrema = true;
      break;
    case Statistic::l1:
      (may_be_negative ? needs.absolute : needs.sum) = true;
      break;
    case Statistic::l2:
      needs.squares = true;
      break;
    case Statistic::sum_of_weights:
      needs.absolute = true;
      break;
  }
}

}  // namespace

ReduceNeeds needs_of(const std::vector<Statistic>& statistics, ElementType type) {
  ReduceNeeds needs;
  for (const Statistic statistic : statistics) require(needs, statistic, type);
  return needs;
}

ReduceNeeds weighted_needs_of(const std::vector<Statistic>& statistics) {
  ReduceNeeds needs{.weighted = true};
  for (const Statistic statistic : statistics) {
    require(needs, statistic, ElementType::f64);
    needs.absolute = needs.absolute || needs.sum;
  }
  return needs;
}

Summary summarize(const Accumulator& accumulator, ElementType type,
                  const std::vector<Statistic>& statistics, const SummaryOptions& options,
                  Rounding rounding) {
  const Summarizer summarizer(accumulator, type, options, rounding);
  Summary summary;
  summary.reserve(statistics.size());
  for (const Statistic statistic : statistics)
    summary.emplace_back(statistic, summarizer.value(statistic));
  return summary;
}

}  // namespace warpfold
