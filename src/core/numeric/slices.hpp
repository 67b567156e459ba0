#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// The upper word of a double without its sign grows with its magnitude and holds its exponent.
inline constexpr int word_exponent_shift = 20;
inline constexpr int word_exponent_bias = 1023;

/// Returns the upper word of 2^exponent.
WARPFOLD_HD constexpr std::uint32_t power_word(int exponent) {
  return static_cast<std::uint32_t>(exponent + word_exponent_bias) << word_exponent_shift;
}

WARPFOLD_HD inline std::uint32_t magnitude_word(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32) & 0x7fffffffu;
}

/// Returns the least exponent of a power of two above every double with this upper word or a lower
/// one.
WARPFOLD_HD constexpr int exponent_above(std::uint32_t word) {
  return static_cast<int>(word >> word_exponent_shift) - word_exponent_bias + 1;
}

/// 1.5 * 2^(unit + 52): numbers below 2^(unit + 50) added to it are rounded to multiples of 2^unit,
/// which its lower bits count.
WARPFOLD_HD inline double bias_of_unit(int unit) {
  const std::uint32_t word = power_word(unit + 52) | 1u << (word_exponent_shift - 1);
  return std::bit_cast<double>(std::uint64_t{word} << 32);
}

WARPFOLD_HD inline double biased(double bias, std::int64_t units) {
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(bias) + units);
}

WARPFOLD_HD inline std::int64_t units_of(double bias, double biased) {
  return std::bit_cast<std::int64_t>(biased) - std::bit_cast<std::int64_t>(bias);
}

/// The exact sum of up to `max_addends` doubles below 2^exponent, less what is left of each below
/// the last slice (Rump, Ogita, Oishi, SIAM J. Sci. Comput. 31(1), 2008: ExtractVector).
///
/// Slice i is a multiple of 2^(exponent - 39 - 40 i). It starts from 1.5 * 2^(exponent + 13 - 40
/// i): 2^12 parts of at most 2^(exponent - 40 i) never take it out of that number's
/// binade, so that each addition rounds to the slice's unit and what it drops is a double again.
template <int Count>
class Slices {
 public:
  static constexpr int count = Count;
  static constexpr int bits = 40;
  static constexpr int max_addends = 1 << 12;

  /// From here down the last slice's unit is that of subnormals, and nothing is left.
  static constexpr int min_exponent = -1022 + bits * (Count - 1) - 13;

  WARPFOLD_HD explicit Slices(int exponent)
      : exponent_(exponent > min_exponent ? exponent : min_exponent) {
    for (int i = 0; i < Count; ++i) biased_[i] = bias(i);
  }

  /// Returns what is left.
  WARPFOLD_HD double add(double value) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < Count; ++i) {
      const double sum = biased_[i] + value;
      value -= sum - biased_[i];
      biased_[i] = sum;
    }
    return value;
  }

  /// Returns the exponent of slice i's unit.
  WARPFOLD_HD int unit(int i) const { return exponent_ + 1 - bits * (i + 1); }

  /// Slices of several adders add up in plain double, exactly.
  WARPFOLD_HD double sum(int i) const { return biased_[i] - bias(i); }
  WARPFOLD_HD double biased(int i) const { return biased_[i]; }

  /// Slice i in its units, and back: with its bias it counts them in its lower bits.
  WARPFOLD_HD std::int64_t units(int i) const { return units_of(bias(i), biased_[i]); }
  WARPFOLD_HD double value_of(int i, std::int64_t units) const {
    return warpfold::biased(bias(i), units) - bias(i);
  }

  WARPFOLD_HD double bias(int i) const { return bias_of_unit(unit(i)); }
  WARPFOLD_HD int exponent() const { return exponent_; }

 private:
  int exponent_;
  double biased_[static_cast<std::size_t>(Count)];
};

}  // namespace warpfold
