#pragma once

#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

inline constexpr std::uint64_t no_index = ~std::uint64_t{0};

/// An extremum is the best element seen so far: lowest key, then lowest index. For a maximum, keys
/// are complements.
struct Extremum {
  std::uint64_t key;    ///< ordered_key() of the value, or its complement for a maximum
  std::uint64_t index;  ///< flat index; no_index where nothing was seen
  std::uint64_t bits;   ///< value_bits() of the value

  WARPFOLD_HD static Extremum none() { return {~std::uint64_t{0}, no_index, 0}; }
  WARPFOLD_HD bool seen() const { return index != no_index; }
  WARPFOLD_HD bool better_than(const Extremum& other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
  WARPFOLD_HD void merge(const Extremum& other) {
    if (other.better_than(*this)) *this = other;
  }
};

/// The needs of a reduction say which parts of an Accumulator it has to fill. Counts and first_nan
/// always are.
struct ReduceNeeds {
  bool sum = false;
  bool absolute = false;
  bool squares = false;
  bool extrema = false;
  /// Elements have weights: `absolute` sums the weights, `squares` the squares times weights.
  bool weighted = false;
};

/// An accumulator holds everything that can be requested of one pass over elements of any type,
/// exactly and without order: merging any partition in any order gives the same contents once
/// normalized.
struct Accumulator {
  std::int64_t count;  ///< number of all elements, whatever their value
  std::int64_t nan_count;
  std::int64_t positive_infinities;
  std::int64_t negative_infinities;
  ExactSum sum;               ///< sum of the finite elements; of integers
  ExactSum absolute;          ///< sum of their magnitudes
  ExactSumOfSquares squares;  ///< sum of their squares
  Extremum minimum;           ///< minimum of all elements but NaN
  Extremum maximum;
  std::uint64_t first_nan;  ///< lowest flat index of a NaN, or no_index

  WARPFOLD_HD static Accumulator empty() {
    Accumulator accumulator{};
    accumulator.minimum = Extremum::none();
    accumulator.maximum = Extremum::none();
    accumulator.first_nan = no_index;
    return accumulator;
  }

  /// Counts indices from `first` elements earlier.
  WARPFOLD_HD void shift_indices(std::uint64_t first) {
    if (minimum.seen()) minimum.index += first;
    if (maximum.seen()) maximum.index += first;
    if (first_nan != no_index) first_nan += first;
  }

  WARPFOLD_HD void normalize() {
    sum.normalize();
    absolute.normalize();
    squares.normalize();
  }

  /// Adds what another has; both sides must be normalized within the bound of FixedPoint.
  WARPFOLD_HD void merge(const Accumulator& other) {
    count += other.count;
    nan_count += other.nan_count;
    positive_infinities += other.positive_infinities;
    negative_infinities += other.negative_infinities;
    sum.add(other.sum);
    absolute.add(other.absolute);
    squares.add(other.squares);
    minimum.merge(other.minimum);
    maximum.merge(other.maximum);
    if (other.first_nan < first_nan) first_nan = other.first_nan;
  }

  /// Makes this, normalized, what `times` (1 or more) of its like have together.
  void repeat(std::uint64_t times) {
    Accumulator power = *this;
    for (std::uint64_t rest = times - 1; rest > 0; rest /= 2) {
      if (rest % 2 == 1) merge(power);
      power.merge(power);
      power.normalize();
      normalize();
    }
  }
};

}  // namespace warpfold
