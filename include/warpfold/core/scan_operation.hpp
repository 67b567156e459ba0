#pragma once

#include <cstdint>
#include <string_view>

#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// Operations of a prefix scan.
enum class ScanOperation : std::uint8_t { sum, min, max };

/// All scan operations.
inline constexpr ScanOperation all_scan_operations[] = {ScanOperation::sum, ScanOperation::min,
                                                        ScanOperation::max};

/// Names an operation: "sum", "min" or "max".
std::string_view name_of(ScanOperation operation);

/// Parses "sum", "min" or "max"; throws a usage Error that lists them for anything else.
ScanOperation parse_scan_operation(std::string_view name);

/// Returns the default type of a scan's output: for sums of integers 64 bits of their signedness,
/// as NumPy's cumsum; otherwise the input's type.
ElementType default_scan_output(ElementType input, ScanOperation operation);

}  // namespace warpfold
