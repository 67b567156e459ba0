#pragma once

#include <charconv>
#include <string>

namespace warpfold {

/// The shortest decimal that rounds to `value`, for messages.
inline std::string shortest_decimal(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

}  // namespace warpfold
