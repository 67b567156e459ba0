#pragma once

#include <cstdint>

namespace warpfold {

/// Value of a quantile whose place lies between two of the sorted elements, by NumPy's names:
/// interpolated, one of them, their mean, or the nearer one (in a tie, the one at the even place).
enum class QuantileMethod : std::uint8_t { linear, lower, higher, midpoint, nearest };

}  // namespace warpfold
