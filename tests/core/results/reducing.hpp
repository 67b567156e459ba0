#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/results/accumulator.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::testing {

/// All that can be requested of elements without weights.
inline constexpr ReduceNeeds everything{true, true, true, true};

/// The element whose value_bits() are `bits`.
template <class T>
T element_of(std::uint64_t bits) {
  if constexpr (!is_floating_element<T>)
    return static_cast<T>(bits);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::bit_cast<double>(bits));
  else
    return T::from_double(std::bit_cast<double>(bits));
}

inline void reduce_finite(Accumulator& accumulator, double value) {
  accumulator.sum.add(value);
  accumulator.absolute.add(std::fabs(value));
  accumulator.squares.add_square(value);
}

inline void reduce_finite(Accumulator& accumulator, int128 value) {
  const int128 magnitude = value < 0 ? -value : value;
  accumulator.sum.add(value);
  accumulator.absolute.add(magnitude);
  accumulator.squares.add(static_cast<uint128>(magnitude) * static_cast<uint128>(magnitude), 0);
}

/// One element at a time, everything there is to accumulate.
template <class T>
void reduce(Accumulator& accumulator, T element, std::uint64_t index) {
  ++accumulator.count;
  if constexpr (is_floating_element<T>) {
    const double value = widened(element);
    if (std::isnan(value)) {
      ++accumulator.nan_count;
      if (index < accumulator.first_nan) accumulator.first_nan = index;
      return;
    }
    if (std::isinf(value))
      ++(value > 0 ? accumulator.positive_infinities : accumulator.negative_infinities);
    else
      reduce_finite(accumulator, value);
  } else {
    reduce_finite(accumulator, int128{element});
  }
  const std::uint64_t key = ordered_key(element);
  accumulator.minimum.merge({key, index, value_bits(element)});
  accumulator.maximum.merge({~key, index, value_bits(element)});
}

template <class T>
Accumulator reduced(const std::vector<T>& elements) {
  Accumulator accumulator = Accumulator::empty();
  for (std::uint64_t i = 0; i < elements.size(); ++i) reduce(accumulator, elements[i], i);
  accumulator.normalize();
  return accumulator;
}

}  // namespace warpfold::testing
