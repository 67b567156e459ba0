#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/slices.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/reduce/reduce_block.cuh"
#include "cuda/reduce/reduce_slices.cuh"

namespace warpfold::cuda::kernels {

/// Position of slices: for elements times 2^scale, below 2^exponent.
struct SlicesPlace {
  int exponent;
  int scale;

  friend __device__ bool operator==(const SlicesPlace&, const SlicesPlace&) = default;
};

/// Makes a thread's sums in slices empty.
template <class Slices>
__device__ void clear_sums(double (&sum)[static_cast<std::size_t>(Slices::sums)],
                           const SlicesPlace& place) {
#pragma unroll
  for (int i = 0; i < Slices::sums; ++i) sum[i] = empty_sum(Slices::unit(i, place.exponent));
}

/// In shared memory: a warp's sums in slices, as integers, in units. Those of a group lie in the
/// lanes' parts: each in as many lanes as can be. They hold 2^headroom elements a lane so many
/// times.
struct WarpSums {
  static constexpr int group = 8;
  static constexpr int groups = 3;
  static constexpr int low_bits = 32;
  static constexpr std::uint32_t settlements = 32;

  std::int64_t part[groups][warp::lanes];
  SlicesPlace place;

  /// Sets all sums to zero. Called by all lanes of the warp.
  __device__ void clear() {
#pragma unroll
    for (auto& of_group : part) of_group[warp::lane()] = 0;
    __syncwarp();
  }

  /// Moves the sums of all lanes here. By all lanes of the warp.
  template <class Slices>
  __device__ void take(double (&sum)[static_cast<std::size_t>(Slices::sums)]) {
    static_assert(Slices::sums <= group * groups);
    for_groups<Slices>([&](auto first, auto count) {
      std::int64_t units[count];
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const double bias = empty_sum(Slices::unit(first + i, place.exponent));
        units[i] = units_of(bias, sum[first + i]);
        sum[first + i] = bias;
      }
      part[first / group][warp::lane()] += warp::reduce_scatter(units);
    });
  }

  /// Leaves the lower bits of sum `group` k + i in lane i of group k, the others in lane `group` +
  /// i. By all lanes of the warp.
  template <class Slices>
  __device__ void gather() {
    for_groups<Slices>([&](auto first, auto count) {
      constexpr int size = static_cast<int>(std::bit_ceil(static_cast<unsigned>(count())));
      std::int64_t& own = part[first / group][warp::lane()];
      std::int64_t low = own & ((std::int64_t{1} << low_bits) - 1);
      std::int64_t high = own >> low_bits;
#pragma unroll
      for (int bit = size; bit < warp::lanes; bit *= 2) {
        low += warp::shuffle_xor(low, bit);
        high += warp::shuffle_xor(high, bit);
      }
      own = (warp::lane() & group) == 0 ? low : high;
    });
    __syncwarp();
  }

 private:
  /// Calls visit(first, count), integral constants, for each group of sums.
  template <class Slices, int First = 0, class Visit>
  __device__ static void for_groups(Visit visit) {
    constexpr int count = Slices::sums - First < group ? Slices::sums - First : group;
    visit(std::integral_constant<int, First>{}, std::integral_constant<int, count>{});
    if constexpr (First + group < Slices::sums) for_groups<Slices, First + group>(visit);
  }
};

/// Adds what was gathered in a lane of a group to totals whose limbs other threads add to at the
/// same time.
template <class Slices>
__device__ void add_part(std::int64_t part, int group, int lane, const SlicesPlace& place,
                         BlockTotals& to) {
  const bool is_high = lane >= WarpSums::group;
  const int i = group * WarpSums::group + lane % WarpSums::group;
  if (part == 0 || i >= Slices::sums || lane >= 2 * WarpSums::group) return;
  const Power power = Slices::power(i);
  const int scale = power == Power::square ? 2 * place.scale : place.scale;
  const int exponent = Slices::unit(i, place.exponent) - scale + (Slices::twice(i) ? 1 : 0) +
                       (is_high ? WarpSums::low_bits : 0);
  if (power == Power::square)
    add_scaled(part, exponent, to.squares);
  else
    add_scaled(part, exponent, power == Power::magnitude ? to.absolute : to.sum);
}

/// Moves a warp's sums to the block's. By all lanes of the warp.
template <class Slices>
__device__ void move_to_block(WarpSums& sums, BlockTotals& block) {
  sums.template gather<Slices>();
#pragma unroll 1
  for (int k = 0; k * WarpSums::group < Slices::sums; ++k)
    add_part<Slices>(sums.part[k][warp::lane()], k, warp::lane(), sums.place, block);
  sums.clear();
}

}  // namespace warpfold::cuda::kernels
