#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "warpfold/core/int128.hpp"
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

}  // namespace warpfold
