#pragma once

#include <cstdint>

#include "cuda/reduce/reduce_bins.cuh"

namespace warpfold::cuda::kernels {

/// One bin in registers: sums of tiles whose elements are zero or of its binary orders.
template <class T, ReduceNeeds needs>
class OneBin {
  using Tile = ThreadTile<T>;
  using Words = FloatWords<T>;

 public:
  static constexpr std::uint32_t flush_tiles = ElementSum<T>::most_elements / Tile::size;

  /// Returns the place, the field of the first order, for elements of fields up to this one.
  __device__ static int place_for(int field) {
    constexpr int last = Words::non_finite_field - bin_orders;
    const int first = field + 2 - bin_orders;
    return first < 1 ? 1 : first > last ? last : first;
  }
  __device__ int place() const { return first_; }

  /// Places sums of nothing.
  __device__ void open(int place) { first_ = place; }

  /// Adds the thread's tile, if it has no other elements.
  __device__ bool add(const Tile& tile) {
    std::uint32_t outside = 0;
    for_words(tile, [&](const Words& x, unsigned) {
      if (!holds(x)) outside |= x.nonzero();
    });
    if (outside != 0) return false;
    for_words(tile, [&](const Words& x, unsigned) {
      const ShiftedElement<T> shifted{holds(x) ? with_leading_bit<Words::fraction_bits>(x.high) : 0,
                                      x.low, (above(x) >> Words::fraction_bits) % bin_orders,
                                      static_cast<std::int32_t>(x.high) >> 31};
      sum_.add(shifted, shifted.power());
      if constexpr (needs.absolute) absolute_.add(shifted, shifted.magnitude_power());
      if constexpr (needs.squares) squares_.add(shifted);
    });
    return true;
  }

  /// Moves the sums to the block's. By all lanes of the warp.
  template <class Bins>
  __device__ void flush(Bins&, BlockTotals& block) {
    const int exponent = first_ + Words::lowest;
#pragma unroll
    for (int k = 0; k < Words::words; ++k) {
      LaneSums sum;
      sum.add(sum_.word[k]);
      sum.add_to(block.sum, exponent + 32 * k);
      if constexpr (needs.absolute) {
        LaneSums absolute;
        absolute.add(absolute_.word[k]);
        absolute.add_to(block.absolute, exponent + 32 * k);
      }
    }
    if constexpr (needs.squares) {
#pragma unroll
      for (int k = 0; k < SquareSum<T>::words; k += 2) {
        LaneSums squares;
        squares.low = squares_.word[k];
        if (k + 1 < SquareSum<T>::words) squares.high = squares_.word[k + 1];
        squares.add_to(block.squares, 2 * exponent + 32 * k);
      }
    }
    sum_ = {};
    absolute_ = {};
    squares_ = {};
  }

 private:
  __device__ std::uint32_t above(const Words& x) const {
    return x.magnitude() - (static_cast<std::uint32_t>(first_) << Words::fraction_bits);
  }
  __device__ bool holds(const Words& x) const {
    return above(x) < std::uint32_t{bin_orders} << Words::fraction_bits;
  }

  int first_ = 0;  ///< field of the first order
  ElementSum<T> sum_{};
  ElementSum<T> absolute_{};
  SquareSum<T> squares_{};
};

}  // namespace warpfold::cuda::kernels
