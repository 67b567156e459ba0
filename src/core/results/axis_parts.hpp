#pragma once

#include <cstdint>
#include <vector>

#include "core/numeric/axis_spills.hpp"
#include "core/numeric/expansion.hpp"
#include "warpfold/core/accumulator.hpp"

namespace warpfold {

/// What an axis reduction counts for each output.
struct AxisCounts {
  std::uint64_t elements = 0;  ///< that count, NaN and infinities included
  std::uint64_t nan = 0;
  std::uint64_t positive_infinities = 0;
  std::uint64_t negative_infinities = 0;
};

/// Reduces of many outputs side by side, an element of each array for each output. Arrays are empty
/// where the needs don't ask for them.
struct AxisParts {
  AxisParts() = default;

  /// Of no elements.
  AxisParts(ReduceNeeds needs, std::uint64_t outputs)
      : counts(outputs),
        sum(needs.sum ? outputs : 0),
        absolute(needs.absolute ? outputs : 0),
        squares(needs.squares ? outputs : 0),
        minimum(needs.extrema ? outputs : 0, Extremum::none()),
        maximum(needs.extrema ? outputs : 0, Extremum::none()),
        first_nan(outputs, no_index) {}

  std::vector<AxisCounts> counts;
  std::vector<Expansion> sum;  ///< of finite elements; of integers
  std::vector<Expansion> absolute;
  std::vector<Expansion> squares;
  std::vector<Extremum> minimum;  ///< indices count rows
  std::vector<Extremum> maximum;
  std::vector<std::uint64_t> first_nan;
  AxisSpills spills;
};

}  // namespace warpfold
