#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/results/axis_parts.hpp"
#include "core/values/ordered_key.hpp"

namespace warpfold::testing {

inline void add_term(AxisParts& parts, Expansion& sum, std::uint64_t output, double addend,
                     AxisTerm term) {
  const double rest = is_addend(addend) ? add(sum, addend) : addend;
  if (rest != 0.0) parts.spills.add({output, rest, term});
}

inline void add_finite(AxisParts& parts, std::uint64_t output, double value) {
  add_term(parts, parts.sum[output], output, value, AxisTerm::value);
  add_term(parts, parts.absolute[output], output, std::fabs(value), AxisTerm::magnitude);
  if (!is_root(value)) return parts.spills.add({output, value, AxisTerm::root});
  const DoublePair square = square_of(value);
  add_term(parts, parts.squares[output], output, square.high, AxisTerm::square);
  add_term(parts, parts.squares[output], output, square.low, AxisTerm::square);
}

template <class T>
void add_integer(AxisParts& parts, std::uint64_t output, T value) {
  const std::uint64_t bits = value_bits(value);
  const std::uint64_t magnitude = value < T{0} ? -bits : bits;
  const auto adder = [&parts, output](Expansion& sum, AxisTerm term) {
    return [&parts, &sum, output, term](double part) { add_term(parts, sum, output, part, term); };
  };
  if constexpr (std::is_signed_v<T>)
    split_integer(static_cast<std::int64_t>(bits), adder(parts.sum[output], AxisTerm::value));
  else
    split_integer(bits, adder(parts.sum[output], AxisTerm::value));
  split_integer(magnitude, adder(parts.absolute[output], AxisTerm::magnitude));
  split_square(magnitude, adder(parts.squares[output], AxisTerm::square));
}

/// Reduces one element of row `row` into parts of all needs.
template <class T>
void reduce(AxisParts& parts, std::uint64_t output, T element, std::uint64_t row) {
  AxisCounts& counts = parts.counts[output];
  ++counts.elements;
  if constexpr (is_floating_element<T>) {
    const double value = widened(element);
    if (std::isnan(value)) {
      ++counts.nan;
      parts.first_nan[output] = std::min(parts.first_nan[output], row);
      return;
    }
    if (std::isinf(value))
      ++(value > 0 ? counts.positive_infinities : counts.negative_infinities);
    else
      add_finite(parts, output, value);
  } else {
    add_integer(parts, output, element);
  }
  const std::uint64_t key = ordered_key(element);
  parts.minimum[output].merge({key, row, value_bits(element)});
  parts.maximum[output].merge({~key, row, value_bits(element)});
}

}  // namespace warpfold::testing
