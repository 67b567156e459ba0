#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/reduce/reduce_block.cuh"
#include "cuda/reduce/reduce_slices.cuh"

namespace warpfold::cuda::kernels {

/// Where slices were opened: for elements times 2^scale, below 2^exponent.
struct SlicesPlace {
  int exponent;
  int scale;

  friend __device__ bool operator==(const SlicesPlace&, const SlicesPlace&) = default;
};

/// In shared memory: a warp's sums in slices, as integers. Sum i, in units, is low[i] +
/// 2^carry_bits high[i].
struct WarpSums {
  static constexpr int carry_bits = 40;

  std::int64_t low[warp::lanes];
  std::int64_t high[warp::lanes];
  SlicesPlace place;

  /// By all lanes of the warp.
  __device__ void clear() {
    low[warp::lane()] = 0;
    high[warp::lane()] = 0;
    __syncwarp();
  }

  /// Moves the sums of all lanes here. By all lanes of the warp.
  template <class Slices>
  __device__ void take(double (&sum)[static_cast<std::size_t>(Slices::sums)]) {
    std::int64_t own = 0;
    add_groups<Slices, 0>(sum, own);
    own += low[warp::lane()];
    low[warp::lane()] = own & ((std::int64_t{1} << carry_bits) - 1);
    high[warp::lane()] += own >> carry_bits;
  }

 private:
  /// Leaves sum i of the lanes in lane i, a few at a time: their words are many registers.
  template <class Slices, int First>
  __device__ void add_groups(double (&sum)[static_cast<std::size_t>(Slices::sums)],
                             std::int64_t& own) const {
    constexpr int group = 8;
    constexpr int count = Slices::sums - First < group ? Slices::sums - First : group;
    std::int64_t units[static_cast<std::size_t>(count)];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const double bias = rounding_to(Slices::unit(First + i, place.exponent));
      units[i] =
          std::bit_cast<std::int64_t>(sum[First + i] + bias) - std::bit_cast<std::int64_t>(bias);
      sum[First + i] = 0.0;
    }
    const std::int64_t total = warp::sum_by_lane(units);
    if (warp::lane() / group == First / group) own = total;
    if constexpr (First + group < Slices::sums) add_groups<Slices, First + group>(sum, own);
  }
};

/// Adds a part of sum i, low or high, to totals whose limbs other threads add to at the same time.
template <class Slices, class Totals>
__device__ void add_part(std::int64_t part, bool is_high, int i, const SlicesPlace& place,
                         Totals& to) {
  if (part == 0) return;
  const Power power = Slices::power(i);
  const int scale = power == Power::square ? 2 * place.scale : place.scale;
  const int exponent = Slices::unit(i, place.exponent) - scale + (Slices::twice(i) ? 1 : 0) +
                       (is_high ? WarpSums::carry_bits : 0);
  const auto bits = static_cast<std::uint64_t>(part);
  const ScaledInteger value{part < 0 ? -bits : bits, exponent, part < 0};
  if (power == Power::square)
    ExactSumOfSquares::digits(value, AtomicLimbs(to.squares.limb));
  else
    ExactSum::digits(value,
                     AtomicLimbs(power == Power::magnitude ? to.absolute.limb : to.sum.limb));
}

/// Moves a warp's sums to the block's. By all lanes of the warp.
template <class Slices>
__device__ void move_to_block(WarpSums& sums, BlockTotals& block) {
  __syncwarp();
  if (warp::lane() < Slices::sums) {
    add_part<Slices>(sums.low[warp::lane()], false, warp::lane(), sums.place, block);
    add_part<Slices>(sums.high[warp::lane()], true, warp::lane(), sums.place, block);
  }
  sums.clear();
}

}  // namespace warpfold::cuda::kernels
