#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "warpfold/core/int128.hpp"
#include "warpfold/core/statistic.hpp"

namespace warpfold {

/// Effect of NaN elements on statistics.
enum class NanPolicy : std::uint8_t { propagate, skip };

/// Treatment of integers that their type can't hold.
enum class OverflowPolicy : std::uint8_t { error, wrap };

/// A result: empty (such as a minimum without elements), a floating-point number, or an exact
/// integer.
using Value = std::variant<std::monostate, double, int128>;

/// Results in the order in which they were requested.
using Summary = std::vector<std::pair<Statistic, Value>>;

/// Returns the result of a statistic. Throws a usage Error if it wasn't requested.
const Value& value_of(const Summary& summary, Statistic statistic);

/// Options of statistics. Propagated NaN makes sums and extrema NaN, and argmin and argmax name the
/// first one. Skipped NaN elements count in no statistic, not even `count`. `wrap` computes the sum
/// of integers modulo 2^width; otherwise it is exact.
struct SummaryOptions {
  NanPolicy nan = NanPolicy::propagate;             ///< effect of NaN
  OverflowPolicy overflow = OverflowPolicy::error;  ///< overflow of sums of integers
  std::uint64_t ddof = 0;                           ///< var and std divide by count - ddof
  Value empty = {};  ///< extremum along axes without elements; NaN if empty
};

}  // namespace warpfold
