#include "core/results/histogram_bins.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/text.hpp"
#include "core/numeric/rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {
namespace {

/// Returns the key of T's lowest value that is `edge` or more (or, if `beyond`, more than it), if
/// any.
template <class T>
std::optional<std::uint64_t> key_from(double edge, bool beyond) {
  if constexpr (is_floating_element<T>) {
    // Doubles next to each other have keys next to each other.
    return ordered_key(edge) + (beyond ? 1 : 0);
  } else {
    using Limits = std::numeric_limits<T>;
    // Exact: a power of two.
    const double end = std::ldexp(1.0, Limits::digits);
    if (edge >= end) return std::nullopt;
    if (edge < static_cast<double>(Limits::min())) return ordered_key(Limits::min());
    const double whole = beyond ? std::floor(edge) : std::ceil(edge);
    const int128 minimum = static_cast<int128>(whole) + (beyond ? 1 : 0);
    if (minimum > int128{Limits::max()}) return std::nullopt;
    return ordered_key(static_cast<T>(minimum));
  }
}

std::pair<double, double> around(double value) {
  if (value - 0.5 < value + 0.5) return {value - 0.5, value + 0.5};
  return {std::nextafter(value, -infinity), std::nextafter(value, infinity)};
}

Error no_equal_edges(double minimum, double maximum, const std::string& why,
                     const std::string& advice) {
  return usage_error("no bins of equal width from " + shortest_decimal(minimum) + " to " +
                         shortest_decimal(maximum),
                     why, advice);
}

}  // namespace

std::vector<double> equal_edges(double minimum, double maximum, std::uint64_t bins) {
  if (minimum == maximum) std::tie(minimum, maximum) = around(minimum);
  const double width = maximum - minimum;
  if (!(minimum < maximum) || !std::isfinite(width))
    throw no_equal_edges(
        minimum, maximum, "",
        "Give `range` two finite numbers, the lesser one first, whose distance is finite, "
        "too, or give `edges`.");
  const double count = static_cast<double>(bins);
  const double step = width / count;
  std::vector<double> edges(bins + 1);
  for (std::uint64_t i = 0; i < bins; ++i) {
    const double place = static_cast<double>(i);
    edges[i] = (step == 0 ? place / count * width : place * step) + minimum;
  }
  edges[bins] = maximum;
  if (!std::ranges::is_sorted(edges))
    throw no_equal_edges(minimum, maximum,
                         "doubles lie too far apart there for " + std::to_string(bins),
                         "Give fewer, or `edges`.");
  return edges;
}

void check_edges(std::span<const double> edges) {
  if (edges.size() < 2 || edges.size() > max_histogram_bins + 1)
    throw usage_error(std::to_string(edges.size()) + " edges of bins", "",
                      "Give 2 to " + std::to_string(max_histogram_bins + 1) + ".");
  for (std::size_t i = 1; i < edges.size(); ++i)
    if (!(edges[i - 1] < edges[i]))
      throw usage_error("the edges of the bins do not rise",
                        "edge " + std::to_string(i) + " is not greater than the one before it",
                        "Order them, each once, without NaN.");
}

void round_edges(std::span<double> edges, ElementType type) {
  visit_element_type(type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (is_floating_element<Element>) {
      for (double& edge : edges) {
        const double rounded = widened(output_element<Element>(edge));
        if (std::isfinite(rounded)) edge = rounded;
      }
    }
  });
}

void HistogramCounts::merge(const HistogramCounts& other) {
  std::ranges::transform(bins, other.bins, bins.begin(), std::plus());
  below += other.below;
  above += other.above;
  nan += other.nan;
}

void HistogramCounts::repeat(std::uint64_t times) {
  for (std::uint64_t& count : bins) count *= times;
  below *= times;
  above *= times;
  nan *= times;
}

HistogramBins::HistogramBins(std::span<const double> edges, ElementType type)
    : bins_(static_cast<std::int64_t>(edges.size()) - 1) {
  for (std::int64_t i = 0; i <= bins_; ++i) {
    const double edge = edges[static_cast<std::size_t>(i)];
    const auto key = visit_element_type(
        type, [&](auto value) { return key_from<decltype(value)>(edge, i == bins_); });
    if (!key) break;
    // Bins that begin at the same value are empty, all but the last one.
    if (keys_.empty() || keys_.back() < *key) {
      keys_.push_back(*key);
      places_.push_back(i);
    } else {
      places_.back() = i;
    }
  }
  if (!keys_.empty()) return;
  keys_.push_back(0);
  places_.push_back(below_all);
}

HistogramCounts HistogramBins::by_edges(const HistogramCounts& by_keys) const {
  HistogramCounts counts;
  counts.bins.resize(static_cast<std::size_t>(bins_));
  counts.below = by_keys.below;
  counts.nan = by_keys.nan;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::uint64_t count = i + 1 < keys_.size() ? by_keys.bins[i] : by_keys.above;
    if (places_[i] == below_all)
      counts.below += count;
    else if (places_[i] == bins_)
      counts.above += count;
    else
      counts.bins[static_cast<std::size_t>(places_[i])] += count;
  }
  return counts;
}

}  // namespace warpfold
