#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bench/harness/result.hpp"
#include "core/engine/stream_engines.hpp"
#include "core/numeric/expansion.hpp"
#include "warpfold/core/int128.hpp"

/// Exact answers about uniform elements (kernels::Pattern::uniform), which are multiples of one
/// power of two: their sums are those of integers, and share no code with the library's.
namespace warpfold::bench {

/// The type of a sum: floats' own, 64 bits for integers.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

template <class T>
class UniformSum {
 public:
  void add(T element) {
    if constexpr (std::is_integral_v<T>)
      units_ += element;
    else
      units_ += static_cast<std::int64_t>(element * one);
  }

  /// Returns the sum, rounded once.
  SumOf<T> value() const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(units_);
    else
      return static_cast<T>(units_) / one;
  }

 private:
  static constexpr T one =
      std::is_integral_v<T> ? T{1} : static_cast<T>(std::is_same_v<T, double> ? 0x1p53 : 0x1p24);

  int128 units_ = 0;
};

/// Returns an exact sum's value, rounded once.
template <class T>
SumOf<T> value_of_sum(const Expansion& sum) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(whole_number(sum));
  else
    return rounded_to<T>(sum);
}

/// Calls visitor(line, place) for each element of the shape, along lines in order.
template <class Visitor>
void for_each_place(const AxisSlab& shape, Visitor&& visitor) {
  std::uint64_t place = 0;
  for (std::uint64_t outer = 0; outer < shape.outer; ++outer)
    for (std::uint64_t along = 0; along < shape.along; ++along)
      for (std::uint64_t inner = 0; inner < shape.inner; ++inner)
        visitor(outer * shape.inner + inner, place++);
}

/// Returns the sum of each line of the shape.
template <class T>
std::vector<SumOf<T>> line_sums(const std::vector<T>& elements, const AxisSlab& shape) {
  std::vector<UniformSum<T>> sums(shape.lines());
  for_each_place(shape,
                 [&](std::uint64_t line, std::uint64_t place) { sums[line].add(elements[place]); });
  std::vector<SumOf<T>> values;
  for (const UniformSum<T>& sum : sums) values.push_back(sum.value());
  return values;
}

/// Returns the inclusive prefix sums of each line of the shape, each at its element's place.
template <class T>
std::vector<SumOf<T>> line_prefixes(const std::vector<T>& elements, const AxisSlab& shape) {
  std::vector<UniformSum<T>> sums(shape.lines());
  std::vector<SumOf<T>> prefixes(elements.size());
  for_each_place(shape, [&](std::uint64_t line, std::uint64_t place) {
    sums[line].add(elements[place]);
    prefixes[place] = sums[line].value();
  });
  return prefixes;
}

/// Returns the distance of two numbers, neither of which is negative, in units in the last place.
template <class T>
double distance_in_ulps(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  return std::fabs(static_cast<double>(std::bit_cast<Bits>(a) - std::bit_cast<Bits>(b)));
}

/// Judges results: those of integers, and others that are to be `exact`, by equality; of other
/// floats it sets the largest error.
template <class T>
void judge(Row& row, const std::vector<T>& claimed, const std::vector<T>& right, bool exact) {
  if (exact || std::is_integral_v<T> || claimed.size() != right.size()) {
    row.check = claimed == right ? Check::right : Check::wrong;
    return;
  }
  double error = 0;
  if constexpr (!std::is_integral_v<T>)
    for (std::size_t i = 0; i < right.size(); ++i)
      error = std::fmax(error, distance_in_ulps(claimed[i], right[i]));
  row.error_ulps = error;
}

}  // namespace warpfold::bench
