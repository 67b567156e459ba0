#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "cuda/reduce/reduce_elements.cuh"

namespace warpfold::cuda::kernels {

/// Sums of a thread's tile of f32 elements in slices of FP32, by the same error-free transformation
/// as slices of doubles (reduce_slices.cuh). A slice's sum starts at 1.5 * 2^23 of its units and
/// counts them in its bits. It is exact while the elements' magnitudes add up to less than 2^22
/// units of the first slice, and no element has a rest after the last.
class FloatSlices {
  using Tile = ThreadTile<float>;
  static constexpr int headroom = std::bit_width(Tile::size) - 1;
  static constexpr int unit_bits = 23;
  /// An element leaves at most half a unit: those of a tile are 2^22 units of the next slice.
  static constexpr int spacing = unit_bits - headroom;

 public:
  static constexpr int count = 3;

  /// Exponent of the units of a slice.
  __device__ int unit(int slice) const { return unit_ - spacing * slice; }

  /// Bits of a slice's sum of nothing.
  __device__ std::uint32_t empty(int slice) const {
    return std::bit_cast<std::uint32_t>(start(unit(slice)));
  }

  /// Chooses the units for elements below 2^exponent. Returns false where they are the same.
  __device__ bool open(int exponent) {
    constexpr int least = spacing * (count - 1) - 149;
    constexpr int most = 127 - 1 - unit_bits;
    const int before = unit_;
    const int wanted = exponent + headroom - (unit_bits - 1);
    unit_ = wanted < least ? least : wanted > most ? most : wanted;
    return unit_ != before;
  }

  /// Sets the bits of the tile's sums. Returns whether they are exact: not where an element is not
  /// finite.
  __device__ bool sum(const Tile& tile, std::uint32_t (&bits)[count]) const {
    constexpr float rounding = 0.98f;  // of the sum of magnitudes
    const auto elements = tile.elements();
    float sum[count];
#pragma unroll
    for (int k = 0; k < count; ++k) sum[k] = start(unit(k));
    float magnitude = 0;
    float left = 0;
#pragma unroll
    for (unsigned i = 0; i < Tile::size; ++i) {
      float rest = elements[i];
      magnitude += std::fabs(rest);
#pragma unroll
      for (float& of_slice : sum) {
        const float before = of_slice;
        of_slice += rest;
        rest -= of_slice - before;
      }
      left += std::fabs(rest);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) bits[k] = std::bit_cast<std::uint32_t>(sum[k]);
    return magnitude < start(unit_) * (rounding / 3) && left == 0;
  }

 private:
  /// 1.5 * 2^23 units.
  __device__ static float start(int unit) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(unit + unit_bits + 127) << 23 |
                                1u << 22);
  }

  int unit_ = 0;
};

}  // namespace warpfold::cuda::kernels
