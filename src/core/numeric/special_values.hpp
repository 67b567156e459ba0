#pragma once

#include <limits>

namespace warpfold {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace warpfold
