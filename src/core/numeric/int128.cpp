#include "warpfold/core/int128.hpp"

#include <algorithm>

namespace warpfold {

std::string to_string(int128 value) {
  const bool negative = value < 0;
  uint128 magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace warpfold
