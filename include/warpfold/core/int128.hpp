#pragma once

#include <string>

namespace warpfold {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/// Writes decimal digits, behind a minus where negative.
std::string to_string(int128 value);

}  // namespace warpfold
