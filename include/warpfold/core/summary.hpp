#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/int128.hpp"
#include "warpfold/core/rounding.hpp"
#include "warpfold/core/statistic.hpp"

namespace warpfold {

enum class NanPolicy : std::uint8_t { propagate, skip };
enum class OverflowPolicy : std::uint8_t { error, wrap };

/// A result: nothing (the minimum of no elements), a floating-point number, or an exact integer.
using Value = std::variant<std::monostate, double, int128>;

/// Results in the order they were asked for.
using Summary = std::vector<std::pair<Statistic, Value>>;

struct SummaryOptions {
  NanPolicy nan = NanPolicy::propagate;
  OverflowPolicy overflow = OverflowPolicy::error;
  std::uint64_t ddof = 0;  ///< var and std divide by count - ddof
};

/// Rounds each statistic once, from exact contents: floating-point results are the doubles nearest
/// to the true values of the dataset, or odd ones for those who round them further.
///
/// NaN: propagated, sums and extrema are NaN and argmin, argmax name the first one; skipped, NaN
/// elements are left out of everything, `count` included. Infinities follow IEEE 754. `wrap` takes
/// the sum of integers modulo 2^width in their own type; otherwise it is exact.
Summary summarize(const Accumulator& accumulator, ElementType type,
                  const std::vector<Statistic>& statistics, const SummaryOptions& options,
                  Rounding rounding = Rounding::nearest);

}  // namespace warpfold
