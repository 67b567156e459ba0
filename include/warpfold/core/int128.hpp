#pragma once

#include <string>

namespace warpfold {

/// Signed 128-bit integer, for exact sums of 64-bit integers.
__extension__ typedef __int128 int128;
/// Unsigned 128-bit integer.
__extension__ typedef unsigned __int128 uint128;

/// Returns the decimal digits, after a minus sign if negative.
std::string to_string(int128 value);

}  // namespace warpfold
