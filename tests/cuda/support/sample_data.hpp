#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/values/byte_order.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

enum class Sample { uniform, wide, cancelling, non_finite, equal, subnormal };

inline constexpr Sample all_samples[] = {Sample::uniform,    Sample::wide,  Sample::cancelling,
                                         Sample::non_finite, Sample::equal, Sample::subnormal};

template <class T>
T element_of(double value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return T::from_double(value);
}

template <class T>
bool is_finite(T value) {
  if constexpr (std::is_integral_v<T>)
    return true;
  else if constexpr (std::is_floating_point_v<T>)
    return std::isfinite(value);
  else
    return std::isfinite(value.to_float());
}

/// Elements with a place for each bit, drawn from all patterns of finite ones.
template <class T>
T any_finite(std::mt19937_64& random) {
  for (;;) {
    const T value = std::bit_cast<T>(static_cast<Word<T>>(random()));
    if (is_finite(value)) return value;
  }
}

template <class T>
T uniform_element(std::mt19937_64& random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random());
  else
    return element_of<T>(std::uniform_real_distribution<double>(-1.0, 1.0)(random));
}

template <class T>
T negative_of(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(Word<T>{0} - std::bit_cast<Word<T>>(value));
  else
    return std::bit_cast<T>(
        static_cast<Word<T>>(std::bit_cast<Word<T>>(value) ^ (Word<T>{1} << (8 * sizeof(T) - 1))));
}

/// Magnitudes of every order: few leading bits, so that sums keep them apart.
template <class T>
T promoted_element(std::mt19937_64& random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random() >> (random() % 64));
  else
    return any_finite<T>(random);
}

template <class T>
T non_finite_element(std::mt19937_64& random) {
  if constexpr (is_floating_element<T>) {
    switch (random() % 4096) {
      case 0:
        return element_of<T>(quiet_nan);
      case 1:
        return element_of<T>(infinity);
      case 2:
        return element_of<T>(-infinity);
      default:
        break;
    }
  }
  return uniform_element<T>(random);
}

/// Both zeros and the least magnitudes.
template <class T>
T subnormal_element(std::mt19937_64& random) {
  constexpr auto sign = static_cast<Word<T>>(Word<T>{1} << (8 * sizeof(T) - 1));
  const auto magnitude = static_cast<Word<T>>(random() % 64);
  const auto bits = static_cast<Word<T>>(random() % 2 == 0 ? magnitude : magnitude | sign);
  if constexpr (is_floating_element<T>) return std::bit_cast<T>(bits);
  return static_cast<T>(magnitude);
}

template <class T>
std::vector<T> sample(Sample kind, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case Sample::uniform:
        elements[i] = uniform_element<T>(random);
        break;
      case Sample::wide:
        elements[i] = promoted_element<T>(random);
        break;
      case Sample::cancelling:
        elements[i] = i % 3 == 0   ? any_finite<T>(random)
                      : i % 3 == 1 ? negative_of(elements[i - 1])
                                   : element_of<T>(1.0);
        break;
      case Sample::non_finite:
        elements[i] = non_finite_element<T>(random);
        break;
      case Sample::equal:
        elements[i] = element_of<T>(1.1);
        break;
      case Sample::subnormal:
        elements[i] = subnormal_element<T>(random);
        break;
    }
  }
  return elements;
}

/// Doubles whose sums need other words as they go on: kind `kind` below hostile_kinds.
inline constexpr std::uint64_t hostile_kinds = 12;
inline double hostile_element(std::uint64_t kind, std::uint64_t row) {
  const auto i = static_cast<int>(row % 2000);
  const bool even = row % 2 == 0;
  switch (kind) {
    case 0:
      return std::ldexp(1.1, i - 1070);  // climbs
    case 1:
      return std::ldexp(-1.3, 1000 - i);  // falls
    case 2:
      return std::ldexp(even ? 1.7 : -1.5, 33 * (i % 50) - 900);
    case 3:
      return even ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
    case 4:
      return i % 3 == 0 ? 0.0 : -0.0;
    case 5:
      return (i % 5 - 2) * std::numeric_limits<double>::denorm_min();
    case 6:
      return i % 10 == 3 ? 1e37 : std::ldexp(1.0 + i, -30);
    case 7:
      return i % 3 == 0 ? 1e300 : i % 3 == 1 ? -1e300 : 1e-300;
    case 8:
      return std::ldexp(even ? 1.0 : -1.0, 100 * (i / 2 % 9));  // cancels to 0
    case 9:
      return i < 40 ? 0.0 : (i % 7 - 3) * 0.3;  // begins with zeros
    case 10:
      return std::ldexp(i % 3 == 0 ? -1.1 : 1.3 + i, i % 4 < 2 ? 0 : -70);  // moves in pairs
    default:
      return std::ldexp(even ? 1.0 : -0.75, 969 + i % 2);
  }
}

}  // namespace warpfold::cuda
