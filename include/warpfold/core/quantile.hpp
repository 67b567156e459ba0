#pragma once

#include <cstdint>

namespace warpfold {

/// A method, by NumPy's name for it, specifies a quantile whose place lies between two elements
/// of the sorted ones: interpolated, one of them, their mean, or the nearer one (of equally near
/// ones that of the even place).
enum class QuantileMethod : std::uint8_t { linear, lower, higher, midpoint, nearest };

}  // namespace warpfold
