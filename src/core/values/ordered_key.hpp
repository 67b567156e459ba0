#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/values/byte_order.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Makes an element a double: exact for floating-point elements.
template <class T>
WARPFOLD_HD double widened(T value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return static_cast<double>(value.to_float());
}

/// Stores an element's value in 64 bits: integers are sign- or zero-extended, floats become the
/// double of equal value.
template <class T>
WARPFOLD_HD std::uint64_t value_bits(T value) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  else if constexpr (std::is_integral_v<T>)
    return value;
  else
    return std::bit_cast<std::uint64_t>(widened(value));
}

/// Returns the element whose value_bits() are `bits`, of a built-in type T.
template <class T>
WARPFOLD_HD T element_of_bits(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits);
  else
    return static_cast<T>(std::bit_cast<double>(bits));
}

/// Returns the integer whose value_bits() are `bits`, of an integer type.
inline int128 integer_of_bits(std::uint64_t bits, ElementType type) {
  return is_signed_integer(type) ? int128{static_cast<std::int64_t>(bits)} : int128{bits};
}

/// Returns the value whose value_bits() are `bits`: an integer, or the double of a float.
inline Value value_of_bits(std::uint64_t bits, ElementType type) {
  if (is_floating(type)) return std::bit_cast<double>(bits);
  return integer_of_bits(bits, type);
}

/// Maps elements (not NaN) to unsigned integers of their order; -0.0 and +0.0 to the same.
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

/// Returns the value_bits() of the value whose ordered_key() is `key`.
inline std::uint64_t bits_of_key(std::uint64_t key, ElementType type) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (is_floating(type)) return (key & sign) != 0 ? key & ~sign : ~key;
  return is_signed_integer(type) ? key ^ sign : key;
}

template <class T>
inline constexpr Word<T> sign_bit = static_cast<Word<T>>(Word<T>{1} << (8 * sizeof(T) - 1));

/// Maps elements (not NaN) to integers as wide as they are, in their order: those of values that
/// follow each other do so, too. Both zeros have the same.
template <class T>
WARPFOLD_HD Word<T> dense_key(T value) {
  const auto bits = std::bit_cast<Word<T>>(value);
  if constexpr (is_floating_element<T>) {
    const auto magnitude = static_cast<Word<T>>(bits & ~sign_bit<T>);
    return static_cast<Word<T>>((bits & sign_bit<T>) != 0 ? sign_bit<T> - magnitude
                                                          : sign_bit<T> + magnitude);
  } else if constexpr (std::is_signed_v<T>) {
    return bits ^ sign_bit<T>;
  } else {
    return bits;
  }
}

/// Returns the element whose dense_key() is `key`; of zeros the positive one.
template <class T>
T element_of_dense_key(Word<T> key) {
  if constexpr (is_floating_element<T>) {
    const bool negative = key < sign_bit<T>;
    const auto magnitude = negative ? sign_bit<T> - key : key - sign_bit<T>;
    return std::bit_cast<T>(static_cast<Word<T>>(magnitude | (negative ? sign_bit<T> : 0)));
  } else if constexpr (std::is_signed_v<T>) {
    return std::bit_cast<T>(static_cast<Word<T>>(key ^ sign_bit<T>));
  } else {
    return key;
  }
}

}  // namespace warpfold
