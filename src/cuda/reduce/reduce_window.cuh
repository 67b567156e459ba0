#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/reduce/reduce_elements.cuh"
#include "cuda/reduce/reduce_slices.cuh"

namespace warpfold::cuda::kernels {

/// Elements as doubles, times 2^scale. Those of 16 bits need no conversion, which is slow: their
/// bits, put where a double has them, are a smaller power of two times the element, subnormal or
/// not.
template <class T, bool Scaled>
struct AsDouble {
  static constexpr int scale = 0;
  __device__ static double of(T element) { return static_cast<double>(comparable(element)); }
};

template <int MantissaBits>
struct AsDouble<Float16Bits<MantissaBits>, true> {
  using Element = Float16Bits<MantissaBits>;
  static constexpr int scale = Element::bias - 1023;

  /// Widens a finite element.
  __device__ static double of(Element element) {
    constexpr int shift = 11 - Element::exponent_bits;
    const int high = static_cast<int>(static_cast<std::uint32_t>(element.bits) << 16) >> shift;
    constexpr std::uint32_t kept = 0x80000000u | (0x7fffffffu >> shift);
    return __hiloint2double(high & static_cast<int>(kept), 0);
  }
};

/// The extremes of a tile's magnitudes, zeros left out, as keys: the magnitude's bits, or the
/// upper ones, with the sign bit set, less one. So a zero's key is the greatest signed number and
/// less than all others as an unsigned one.
struct KeyRange {
  std::uint32_t maximum = 0;
  std::int32_t minimum = std::numeric_limits<std::int32_t>::max();

  __device__ void take(std::uint32_t key) {
    maximum = key > maximum ? key : maximum;
    minimum = static_cast<std::int32_t>(key) < minimum ? static_cast<std::int32_t>(key) : minimum;
  }
};

__device__ inline std::uint32_t magnitude_key(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x) | std::uint64_t{1} << 63;
  return static_cast<std::uint32_t>((bits - 1) >> 32);
}

/// Returns the element's key; one of 16 bits stands above 16 zeros.
template <class T>
__device__ std::uint32_t key_of_element(T element) {
  if constexpr (sizeof(T) == 2)
    return ((std::uint32_t{element.bits} << 16) | 0x80000000u) - 0x10000u;
  else
    return magnitude_key(element);
}

template <class T>
__device__ KeyRange key_range(const ThreadTile<T>& tile) {
  KeyRange range;
  if constexpr (sizeof(T) == 2) {
    const PairKeys pairs = pair_keys(tile);
    range.take(pairs.maximum & 0xffff0000u);
    range.take(pairs.maximum << 16);
    range.take(pairs.minimum & 0xffff0000u);
    range.take(pairs.minimum << 16);
  } else {
    const auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < ThreadTile<T>::size; ++i) range.take(magnitude_key(elements[i]));
  }
  return range;
}

/// Which elements of type T the slices take now.
template <class T, class Slices>
class Window;

/// Tells whether the window holds one element by its key; not NaN.
template <class Window>
__device__ bool contains(const Window& window, std::uint32_t key) {
  KeyRange range;
  range.take(key);
  return window.holds(range);
}

/// Keys of zeros are below all others.
inline constexpr std::uint32_t least_key = 0x80000000u;

/// All finite elements: multiples of 2^-24 below 2^16.
template <class Slices>
class Window<Float16, Slices> {
 public:
  static constexpr int lowest = 16;
  static constexpr int highest = 16;
  static constexpr int far_lowest = lowest;
  static constexpr int far_highest = highest;
  static_assert(Slices::orders + 10 >= 40);

  __device__ void open(int, int) {}
  __device__ bool holds(const KeyRange& range) const { return range.maximum < 0xfbff0000u; }
  __device__ static int exponent_above(std::uint32_t) { return highest; }
};

/// A window whose lower end falls below the least normal number ends at zero: its unit is 2^-1074,
/// or less. For windows below the lowest, as for those above the highest, elements are scaled, so
/// that units of squares are normal numbers.
template <class Slices>
class Window<double, Slices> {
  static_assert(Slices::power(0) == Power::square);

 public:
  static constexpr int far_lowest = Slices::orders - 1022;
  static constexpr int far_highest = 1024;
  static constexpr int lowest = -400;
  static constexpr int highest = 480;

  __device__ void open(int exponent, int orders) {
    top_ = power_word(exponent);
    bottom_ = exponent <= far_lowest ? 0 : power_word(exponent - orders);
  }

  /// 2^exponent as well, which the slices do take, but not the least elements above the bottom.
  __device__ bool holds(const KeyRange& range) const {
    return range.maximum < (top_ | 0x80000000u) &&
           range.minimum >= static_cast<std::int32_t>(bottom_ | 0x80000000u);
  }

  /// At least e + 1 where 2^e <= |x|, by the key of a number that is not zero.
  __device__ static int exponent_above(std::uint32_t key) {
    return static_cast<int>(((key + 1) >> 20) & 0x7ffu) - 1022;
  }

 private:
  std::uint32_t top_;  ///< words of exponents, as bottom_
  std::uint32_t bottom_;
};

}  // namespace warpfold::cuda::kernels
