#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/values/byte_order.hpp"
#include "warpfold/core/element_type.hpp"

/// Elements to test with: any kind of data as any type.
namespace warpfold::cpu::testing {

enum class Kind {
  uniform,
  all_bits,  ///< every exponent; of floats with 16 bits and of integers every value
  wide,      ///< 60 binary orders
  cancelling,
  subnormal,
  sprinkled,  ///< with NaN and infinities
  only_nan,
  constant,
  zeros  ///< zeros of both signs
};

inline constexpr Kind all_kinds[] = {Kind::uniform,    Kind::all_bits,  Kind::wide,
                                     Kind::cancelling, Kind::subnormal, Kind::sprinkled,
                                     Kind::only_nan,   Kind::constant,  Kind::zeros};

inline constexpr std::size_t all_sizes[] = {0,    1,    31,   32,           33,
                                            4095, 4096, 4097, 3 * 4096 + 5, 100003};

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(value);
  else
    return T::from_double(value);
}

template <class T>
T finite_from_bits(std::uint64_t bits) {
  const auto element = std::bit_cast<T>(static_cast<Word<T>>(bits));
  if constexpr (std::is_integral_v<T>) {
    return element;
  } else {
    double value = 0.0;
    if constexpr (std::is_arithmetic_v<T>)
      value = element;
    else
      value = element.to_float();
    return std::isfinite(value) ? element : from_double<T>(1.0);
  }
}

/// Element `i` of floating-point data; overflowing values become infinities in narrow types.
inline double floating_value(Kind kind, std::size_t i, std::mt19937_64& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  switch (kind) {
    case Kind::wide:
      return std::ldexp(unit - 0.5, static_cast<int>(random() % 60) - 30);
    case Kind::cancelling: {
      const double triple[] = {1e308, 1.0, -1e308};
      return triple[i % 3];
    }
    case Kind::subnormal:
      return std::ldexp(unit - 0.5, -1040 - static_cast<int>(random() % 30));
    case Kind::sprinkled: {
      const double specials[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity};
      return random() % 500 == 0 ? specials[random() % 3] : unit - 0.5;
    }
    case Kind::only_nan:
      return std::numeric_limits<double>::quiet_NaN();
    case Kind::constant:
      return 1.23;
    case Kind::zeros:
      return random() % 2 == 0 ? 0.0 : -0.0;
    default:
      return unit - 0.5;
  }
}

template <class T>
T integer_value(Kind kind, std::size_t i, std::mt19937_64& random) {
  switch (kind) {
    case Kind::all_bits:
    case Kind::wide:
      return static_cast<T>(random());
    case Kind::cancelling:
      return i % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    case Kind::constant:
      return std::numeric_limits<T>::min();
    case Kind::sprinkled:
      return std::numeric_limits<T>::max();
    case Kind::zeros:
      return 0;
    default:
      return static_cast<T>(random() % 100);
  }
}

template <class T>
std::vector<T> make_elements(Kind kind, std::size_t n, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> elements(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>)
      elements[i] = integer_value<T>(kind, i, random);
    else if (kind == Kind::all_bits)
      elements[i] = finite_from_bits<T>(random());
    else
      elements[i] = from_double<T>(floating_value(kind, i, random));
  }
  return elements;
}

/// The elements' bytes, as a file of byte order `order` has them, at `to`.
template <class T>
void put_elements(const std::vector<T>& elements, ByteOrder order, std::byte* to) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const T element = order == native_byte_order ? elements[i] : byte_swapped(elements[i]);
    std::memcpy(to + i * sizeof(T), &element, sizeof(T));
  }
}

}  // namespace warpfold::cpu::testing
