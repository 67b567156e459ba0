#pragma once

#include <cstdint>
#include <optional>

#include "core/numeric/expansion.hpp"
#include "warpfold/core/rounding.hpp"

namespace warpfold {

/// sum / divisor, rounded once; nothing where doubles are too few to tell, as for subnormal
/// results. The divisor is not zero.
std::optional<double> rounded_quotient(const Expansion& sum, std::uint64_t divisor,
                                       Rounding rounding);

}  // namespace warpfold
