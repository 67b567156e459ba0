#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "warpfold/core/int128.hpp"
#include "warpfold/core/statistic.hpp"

namespace warpfold {

/// A policy specifies what NaN elements do to statistics.
enum class NanPolicy : std::uint8_t { propagate, skip };

/// A policy specifies what becomes of integers that their type can't hold.
enum class OverflowPolicy : std::uint8_t { error, wrap };

/// A value is a result: nothing (the minimum of no elements), a floating-point number, or an exact
/// integer.
using Value = std::variant<std::monostate, double, int128>;

/// A summary has results in the order they were requested.
using Summary = std::vector<std::pair<Statistic, Value>>;

/// Returns the result of a statistic; throws a usage Error where it wasn't requested.
const Value& value_of(const Summary& summary, Statistic statistic);

/// Summary options specify how statistics are made. NaN, propagated, makes sums and extrema NaN,
/// and argmin and argmax name the first one; skipped, NaN elements count in no statistic, not even
/// `count`. `wrap` takes the sum of integers modulo 2^width; otherwise it is exact.
struct SummaryOptions {
  NanPolicy nan = NanPolicy::propagate;             ///< whether NaN propagates
  OverflowPolicy overflow = OverflowPolicy::error;  ///< overflow of sums of integers
  std::uint64_t ddof = 0;                           ///< var and std divide by count - ddof
  Value empty = {};  ///< an extremum of no elements, along axes; NaN where nothing
};

}  // namespace warpfold
