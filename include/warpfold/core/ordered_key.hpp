#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// An element as a double: exact for floating-point elements.
template <class T>
WARPFOLD_HD double widened(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(value.to_float());
}

/// An element's value as 64 bits that keep it: sign- or zero-extended integers, and the double of
/// equal value for floats.
template <class T>
WARPFOLD_HD std::uint64_t value_bits(T value) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  else if constexpr (std::is_integral_v<T>)
    return value;
  else
    return std::bit_cast<std::uint64_t>(widened(value));
}

/// An unsigned integer in the order of the elements (not NaN); -0.0 and +0.0 have the same.
template <class T>
WARPFOLD_HD std::uint64_t ordered_key(T value) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return value_bits(value) ^ sign;
  } else if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(widened(value) + 0.0);
    return (bits & sign) != 0 ? ~bits : bits | sign;
  }
}

}  // namespace warpfold
