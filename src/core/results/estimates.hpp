#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "core/numeric/expansion.hpp"
#include "core/results/weighted_sums.hpp"

/// Results of sums in double-double arithmetic (Dekker, Numerische Mathematik 18, 1971) with bounds
/// on their errors. Where both ends of a bound round to the same number, so does the exact result.
namespace warpfold {

/// An estimate says that a number lies within `error` of high + low, |low| at most half a unit in
/// the last place of high.
struct Estimate {
  double high = 0;
  double low = 0;
  double error = 0;
};

/// An inexact sum lies within `error` of the value of an expansion.
struct InexactSum {
  Expansion value;
  double error = 0;
};

/// Return the leading bits of normalized sums.
InexactSum leading_part(const ExactSum& sum);
InexactSum leading_part(const ExactSumOfSquares& sum);
InexactSum leading_part(const ExactSumOfWeightedSquares& sum);

/// Estimate the variance of `count` elements by their sum and that of their squares, and that of
/// weighted elements by the sums of weights, of products and of weighted squares; nothing where
/// doubles can't tell, as for numbers of unusual size. ddof < count.
std::optional<Estimate> variance_estimate(const Expansion& sum, const Expansion& squares,
                                          std::uint64_t count, std::uint64_t ddof);
std::optional<Estimate> variance_estimate(const InexactSum& weights, const InexactSum& products,
                                          const InexactSum& squares);

/// Estimates a sum, none of whose parts is negative.
std::optional<Estimate> estimate_of(const Expansion& sum);

/// Estimates the square root.
std::optional<Estimate> root_of(const std::optional<Estimate>& square);

/// Rounds the number itself once; nothing where the estimate doesn't suffice for that.
template <class Out>
std::optional<Out> rounded_to(const std::optional<Estimate>& number) {
  if (!number) return std::nullopt;
  const Out least = rounded_to<Out>(Expansion{{number->high, number->low - number->error}});
  const Out most = rounded_to<Out>(Expansion{{number->high, number->low + number->error}});
  if (std::memcmp(&least, &most, sizeof(Out)) != 0) return std::nullopt;
  return least;
}

}  // namespace warpfold
