#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "cuda/reduce/reduce_bins.cuh"

namespace warpfold::cuda::kernels {

/// Slices of FP32: sums of float elements that do not round.
///
/// A slice's sum starts at 1.5 * 2^23 of its units, so that an addition to it rounds to units,
/// which its bits count. What that leaves is exact and at most half a unit. (S. M. Rump, T. Ogita,
/// S. Oishi, Accurate floating-point summation, SIAM J. Sci. Comput. 31, 2008; J. Demmel, H. D.
/// Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64, 2015.)
namespace float_slice {

inline constexpr int bits = 23;  ///< from one slice's unit to that of the next, at most

/// Exponents of units of which a sum may start.
inline constexpr int least_unit = -126 - bits;
inline constexpr int most_unit = 127 - 1 - bits;

/// 1.5 * 2^23 units of 2^unit.
__device__ inline float start(int unit) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(unit + bits + 127) << bits |
                              1u << (bits - 1));
}

/// Returns the unit nearest to `wanted` with which the last slice's is not too small.
__device__ inline int unit_near(int wanted, int least) {
  return wanted < least ? least : wanted > most_unit ? most_unit : wanted;
}

/// visit(x) for each element of a tile, as a float.
template <class T, class Visit>
__device__ void for_floats(const ThreadTile<T>& tile, Visit visit) {
  const auto elements = tile.elements();
#pragma unroll
  for (unsigned i = 0; i < ThreadTile<T>::size; ++i) visit(comparable(elements[i]));
}

}  // namespace float_slice

/// Sums of a thread's tile in slices of FP32, exact while the elements' magnitudes add up to less
/// than 2^22 units of the first slice, and no element has a rest after the last.
template <class T>
class FloatSlices {
  using Tile = ThreadTile<T>;
  using Words = FloatWords<T>;
  static constexpr int headroom = std::bit_width(Tile::size) - 1;
  /// An element leaves at most half a unit: those of a tile are 2^22 units of the next slice.
  static constexpr int spacing = float_slice::bits - headroom;
  static constexpr int count = sizeof(T) == 2 ? 2 : 3;

 public:
  static constexpr std::uint32_t flush_tiles = std::uint32_t{1} << 16;

  /// Returns the place, an exponent of units, for elements of fields up to this one.
  __device__ static int place_for(int field) {
    constexpr int least =
        Words::lowest > float_slice::least_unit ? Words::lowest : float_slice::least_unit;
    return float_slice::unit_near(Words::exponent_above(field) + headroom - (float_slice::bits - 1),
                                  least + spacing * (count - 1));
  }
  __device__ int place() const { return unit_; }

  /// Places sums of nothing.
  __device__ void open(int place) { unit_ = place; }

  /// Adds the thread's tile, if its sums are exact: not where an element is not finite.
  __device__ bool add(const Tile& tile) {
    constexpr float rounding = 0.98f;  // of the sum of magnitudes
    float sum[count];
#pragma unroll
    for (int k = 0; k < count; ++k) sum[k] = start(k);
    float magnitude = 0;
    float left = 0;
    float_slice::for_floats(tile, [&](float rest) {
      magnitude += std::fabs(rest);
#pragma unroll
      for (float& of_slice : sum) {
        const float before = of_slice;
        of_slice += rest;
        rest -= of_slice - before;
      }
      left += std::fabs(rest);
    });
    if (!(magnitude < start(0) * (rounding / 3) && left == 0)) return false;
#pragma unroll
    for (int k = 0; k < count; ++k) sum_[k] += std::bit_cast<std::uint32_t>(sum[k]);
    ++tiles_;
    return true;
  }

  /// Moves the sums, of less than 2^22 units a tile, to the thread's bins.
  template <class Bins>
  __device__ void flush(Bins& bins, BlockTotals&) {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const std::uint64_t empty = std::uint64_t{tiles_} * std::bit_cast<std::uint32_t>(start(k));
      bins.add_units(static_cast<std::int64_t>(sum_[k] - empty), unit_ - spacing * k);
      sum_[k] = 0;
    }
    tiles_ = 0;
  }

 private:
  __device__ float start(int slice) const { return float_slice::start(unit_ - spacing * slice); }

  int unit_ = 0;                   ///< exponent of the first slice's
  std::uint64_t sum_[count] = {};  ///< sums of the bits of tiles
  std::uint32_t tiles_ = 0;        ///< tiles of these sums
};

/// Sums and sums of squares of elements a u + b v in slices of FP32, u = 2^23 v, |a| and |b| at
/// most 2^22: integers, whose products are integers of 64 bits. Elements of bfloat16, of 8 bits,
/// are a u alone, or else for other sums. All finite ones of half precision are a u + b v for one
/// u.
template <class T, bool Magnitudes>
class FloatSquareSlices {
  using Tile = ThreadTile<T>;
  using Words = FloatWords<T>;
  static constexpr bool two = !std::is_same_v<T, BFloat16>;
  static constexpr int bits = float_slice::bits;

 public:
  /// Products of 2^44 in so many tiles take 63 bits.
  static constexpr std::uint32_t flush_tiles = (std::uint32_t{1} << 18) / Tile::size;

  /// Returns the place, an exponent of units, for elements of fields up to this one.
  __device__ static int place_for(int field) {
    if constexpr (std::is_same_v<T, Float16>) return Words::exponent_above(30) - (bits - 1);
    return float_slice::unit_near(Words::exponent_above(field) - (bits - 1) + (two ? 0 : 1),
                                  float_slice::least_unit + (two ? bits : 0));
  }
  __device__ int place() const { return unit_; }

  /// Places sums of nothing.
  __device__ void open(int place) { unit_ = place; }

  /// Adds the thread's tile, if its elements are such: not where one is not finite.
  __device__ bool add(const Tile& tile) {
    if constexpr (!two)
      if (!holds(tile)) return false;
    const float first = float_slice::start(unit_);
    const float second = float_slice::start(unit_ - bits);
    float greatest = 0;
    float left = 0;
    std::int64_t aa = 0;
    std::int64_t ab = 0;
    std::int64_t bb = 0;
    std::int32_t sum[2] = {};
    std::int32_t absolute[2] = {};
    float_slice::for_floats(tile, [&](float x) {
      const std::int32_t sign = std::bit_cast<std::int32_t>(x) >> 31;
      const float high = x + first;
      const std::int32_t a = units_of(high, first);
      aa += std::int64_t{a} * a;
      sum[0] += a;
      if constexpr (Magnitudes) absolute[0] += (a ^ sign) - sign;
      if constexpr (two) {
        const float rest = x - (high - first);
        const float low = rest + second;
        const std::int32_t b = units_of(low, second);
        ab += std::int64_t{a} * b;
        bb += std::int64_t{b} * b;
        sum[1] += b;
        if constexpr (Magnitudes) absolute[1] += (b ^ sign) - sign;
        if constexpr (std::is_same_v<T, float>) {
          left += std::fabs(rest - (low - second));
          greatest = std::fmax(greatest, std::fabs(x));
        } else {
          left = std::fmaf(x, 0.0f, left);  // NaN where x is not finite
        }
      }
    });
    if (!(greatest < first * (1.0f / 3) && left == 0)) return false;
    aa_ += aa;
    ab_ += ab;
    bb_ += bb;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      sum_[k] += sum[k];
      if constexpr (Magnitudes) absolute_[k] += absolute[k];
    }
    return true;
  }

  /// Moves the sums to the block's. By all lanes of the warp.
  template <class Bins>
  __device__ void flush(Bins&, BlockTotals& block) {
#pragma unroll
    for (int k = 0; k < (two ? 2 : 1); ++k) {
      move(sum_[k], block.sum, unit_ - bits * k);
      if constexpr (Magnitudes) move(absolute_[k], block.absolute, unit_ - bits * k);
    }
    move(aa_, block.squares, 2 * unit_);
    if constexpr (two) {
      move(ab_, block.squares, 2 * unit_ - bits + 1);
      move(bb_, block.squares, 2 * unit_ - 2 * bits);
    }
  }

 private:
  __device__ static std::int32_t units_of(float biased, float bias) {
    return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(biased) -
                                     std::bit_cast<std::uint32_t>(bias));
  }

  /// Tells whether all elements of bfloat16 are multiples of u below 2^22 u.
  __device__ bool holds(const Tile& tile) const {
    constexpr int fraction = 7;
    const int least = unit_ - Words::exponent_above(0) + fraction + 1;  // field
    const int most = least + bits - 1 - fraction;
    const PairKeys keys = pair_keys(tile);
    const auto greatest = __vmaxu2(keys.maximum, keys.maximum >> 16) & 0xffffu;
    const auto smallest =
        static_cast<std::int32_t>(__vmins2(keys.minimum, keys.minimum << 16)) >> 16;
    return greatest < 0x7fffu + (static_cast<std::uint32_t>(most) << fraction) &&
           smallest >= (least <= 1 ? 0 : least << fraction) - 0x8001;
  }

  template <class Number>
  __device__ static void move(std::int64_t& units, Number& number, int exponent) {
    LaneSums sums;
    sums.add(units);
    sums.add_to(number, exponent);
    units = 0;
  }

  int unit_ = 0;  ///< exponent of u
  std::int64_t sum_[2] = {};
  std::int64_t absolute_[2] = {};
  std::int64_t aa_ = 0;
  std::int64_t ab_ = 0;
  std::int64_t bb_ = 0;
};

}  // namespace warpfold::cuda::kernels
