#pragma once

#include <cstdint>
#include <string_view>

#include "warpfold/core/element_type.hpp"

namespace warpfold {

enum class ScanOperation : std::uint8_t { sum, min, max };

std::string_view name_of(ScanOperation operation);

/// "sum", "min" or "max"; throws a usage Error that lists them.
ScanOperation parse_scan_operation(std::string_view name);

/// Elements of a tile: sums of floats add in a fixed order inside each, from its exact base.
inline constexpr std::uint64_t scan_tile_elements = 4096;

/// Integers widen to 64 bits of their signedness for sums, as NumPy's cumsum; everything else keeps
/// its type.
ElementType default_scan_output(ElementType input, ScanOperation operation);

}  // namespace warpfold
