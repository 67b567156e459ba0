#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// The most bins that a histogram has.
inline constexpr std::uint64_t max_histogram_bins = std::uint64_t{1} << 22;

/// Returns the edges of `bins` (1 or more) bins of equal width from `minimum` to `maximum`, to the
/// bit those of numpy.linspace(minimum, maximum, bins + 1); around a single number, as
/// numpy.histogram() has them, from 0.5 below to 0.5 above (or the doubles next to it where these
/// are the same). Throws a usage Error where `minimum` is the greater, and unless the width is
/// finite.
std::vector<double> equal_edges(double minimum, double maximum, std::uint64_t bins);

/// Throws a usage Error unless there are two edges or more, at most max_histogram_bins + 1, and
/// each is greater than the one before.
void check_edges(std::span<const double> edges);

/// Rounds rising edges to values of `type` if that is a floating-point one, but for those beyond
/// its finite ones: an edge is the number that it is in a condition.
void round_edges(std::span<double> edges, ElementType type);

/// Counts of elements by bin, and of elements outside all bins.
struct HistogramCounts {
  std::vector<std::uint64_t> bins;
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  std::uint64_t nan = 0;

  /// Adds what was counted by the same bins.
  void merge(const HistogramCounts& other);

  /// Makes each count `times` as much.
  void repeat(std::uint64_t times);
};

/// Bins as elements of one type meet them: edges are real numbers, between which a type may have
/// many values or none at all.
class HistogramBins {
 public:
  /// Takes `edges` that do not fall, none of them NaN.
  HistogramBins(std::span<const double> edges, ElementType type);

  /// Returns a HistogramEngine's: each greater than the one before, one or more.
  const std::vector<std::uint64_t>& keys() const { return keys_; }

  /// Returns by the edges' bins what was counted by the keys'.
  HistogramCounts by_edges(const HistogramCounts& by_keys) const;

 private:
  static constexpr std::int64_t below_all = -1;

  std::int64_t bins_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> places_;  ///< bins that begin at keys, or below_all, or bins_
};

}  // namespace warpfold
