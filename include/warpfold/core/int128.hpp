#pragma once

#include <string>

namespace warpfold {

/// Signed integers of 128 bits: exact sums of 64-bit integers.
__extension__ typedef __int128 int128;
/// Unsigned integers of 128 bits.
__extension__ typedef unsigned __int128 uint128;

/// Writes decimal digits, behind a minus where negative.
std::string to_string(int128 value);

}  // namespace warpfold
