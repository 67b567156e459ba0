#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/results/accumulator.hpp"
#include "core/results/same_accumulators.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/int128.hpp"

/// Expected results of a reduction, computed element by element.
namespace warpfold::cpu::testing {

template <class T>
void add_element(Accumulator& into, T element, std::uint64_t index) {
  ++into.count;
  if constexpr (std::is_integral_v<T>) {
    const int128 value = element;
    const auto size = static_cast<uint128>(value < 0 ? -value : value);
    into.sum.add(value);
    into.absolute.add(size, 0);
    into.squares.add(size * size, 0);
  } else {
    const double value = widened(element);
    if (std::isnan(value)) {
      ++into.nan_count;
      into.first_nan = std::min(into.first_nan, index);
      return;
    }
    if (std::isinf(value)) {
      ++(value > 0 ? into.positive_infinities : into.negative_infinities);
    } else {
      into.sum.add(value);
      into.absolute.add(std::abs(value));
      into.squares.add_square(value);
    }
  }
  into.minimum.merge({ordered_key(element), index, value_bits(element)});
  into.maximum.merge({~ordered_key(element), index, value_bits(element)});
}

template <class T>
Accumulator scalar_reduce(const std::vector<T>& elements, std::uint64_t first_index) {
  Accumulator total = Accumulator::empty();
  for (std::size_t i = 0; i < elements.size(); ++i)
    add_element(total, elements[i], first_index + i);
  total.normalize();
  return total;
}

}  // namespace warpfold::cpu::testing
