#include <cmath>

#include "cuda/primitives/digit_number.hpp"
#include "cuda/primitives/slices.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/float_tiles.hpp"

namespace warpfold::cuda::kernels {
namespace {

constexpr int start_threads = static_cast<int>(TileGroups::step);
constexpr int start_warps = start_threads / warp::lanes;

/// A tile's limbs, zero outside their range.
class TileRow {
 public:
  __device__ TileRow(const FloatTileTotals& totals, std::uint64_t tile, const TileTraits& traits)
      : limbs_(totals.limbs + tile * static_cast<unsigned>(totals.range.count)),
        stored_from_(totals.range.first),
        first_(traits.first_limb),
        end_(traits.first_limb + traits.limbs) {}

  __device__ std::int64_t limb(int i) const {
    return i >= first_ && i < end_ ? limbs_[i - stored_from_] : 0;
  }
  __device__ int first() const { return first_; }
  __device__ int end() const { return end_; }

 private:
  const std::int64_t* limbs_;
  int stored_from_;
  int first_;
  int end_;
};

/// What the threads of a block, one for each of some consecutive tiles, share.
struct GroupState {
  std::int64_t base[ExactSum::limbs];   ///< before the first of the tiles
  std::int64_t total[ExactSum::limbs];  ///< of the tiles
  std::int64_t warp_total[2][start_warps];
  std::uint32_t digits[ExactSum::limbs + 1][start_threads];
  int first;  ///< limbs from here on
  int end;    ///< up to here may be other than zero
};

/// By all threads.
__device__ void find_columns(GroupState& group, const TileRow& row) {
  if (threadIdx.x == 0) {
    group.first = ExactSum::limbs;
    group.end = 0;
  }
  __syncthreads();
  if (row.end() > row.first()) {
    atomicMin(&group.first, row.first());
    atomicMax(&group.end, row.end());
  }
  for (int i = static_cast<int>(threadIdx.x); i < ExactSum::limbs; i += start_threads) {
    if (group.base[i] == 0) continue;
    atomicMin(&group.first, i);
    atomicMax(&group.end, i + 1);
  }
  __syncthreads();
}

/// Returns the sum of a column's limbs in the tiles before the thread's own.
__device__ std::int64_t column_prefix(GroupState& group, int column, std::int64_t own) {
  std::int64_t(&warp_total)[start_warps] = group.warp_total[column % 2];
  const std::int64_t inclusive =
      warp::inclusive_scan(own, [](std::int64_t a, std::int64_t b) { return a + b; });
  if (warp::lane() == warp::lanes - 1) warp_total[warp::index()] = inclusive;
  __syncthreads();
  std::int64_t prefix = inclusive - own;
  std::int64_t total = 0;
#pragma unroll
  for (int i = 0; i < start_warps; ++i) {
    if (i < warp::index()) prefix += warp_total[i];
    total += warp_total[i];
  }
  if (threadIdx.x == 0) group.total[column] = total;
  return prefix;
}

/// Returns the sum of all before the thread's tile. Limbs stay below 2^63: 2^29 tiles of less than
/// 2^33, what is before the block, a carry.
__device__ DigitNumber prefix_of_tile(GroupState& group, const TileRow& row) {
  const int first = min(group.first, group.end);
  const int columns = group.end - first;
  int lowest = columns + 1;
  std::int64_t carry = 0;
  std::int64_t next = row.limb(first);
#pragma unroll 1
  for (int i = 0; i < columns; ++i) {
    const std::int64_t own = next;
    next = row.limb(first + i + 1);
    carry += group.base[first + i] + column_prefix(group, first + i, own);
    const auto digit = static_cast<std::uint32_t>(carry);
    carry >>= 32;
    group.digits[i][threadIdx.x] = digit;
    if (digit != 0) lowest = min(lowest, i);
  }
  group.digits[columns][threadIdx.x] = static_cast<std::uint32_t>(carry);
  if (carry != 0) lowest = min(lowest, columns);
  return DigitNumber(&group.digits[0][threadIdx.x], start_threads, first, columns + 1, lowest);
}

__device__ std::int32_t first_seen(bool before_block, const NonFinite& non_finite, int kind,
                                   std::uint64_t tile, std::int32_t in_tile) {
  return before_block || non_finite.first_tile[kind] < tile ? -1 : in_tile;
}

/// Slices take up to a tile of elements: sums below 2^12 times what bounds one of them.
__device__ bool in_units(DoublePair base, std::int32_t exponent) {
  PairSlices slices(exponent);
  if (exponent_above(magnitude_word(base.high)) > slices.exponent() + 12) return false;
  const double left = slices.add(base.high);
  return left == 0.0 && slices.add(base.low) == 0.0;
}

__device__ TileStart start_of_tile(const DigitNumber& sum, const TileTraits& traits,
                                   const NonFinite& non_finite, const FloatCarry& before,
                                   std::uint64_t tile) {
  const bool any_huge = traits.any_huge != 0 || std::fabs(sum.rounded(0)) >= scan_order::huge;
  const auto first = [&](bool before_block, int kind, std::int32_t in_tile) {
    return first_seen(before_block, non_finite, kind, tile, in_tile);
  };
  const DoublePair base = sum.rounded_pair(scan_order::tile_scale(any_huge).exponent);
  return {base,
          {first(before.nan, 0, traits.first.nan),
           first(before.positive_infinity, 1, traits.first.positive_infinity),
           first(before.negative_infinity, 2, traits.first.negative_infinity)},
          any_huge ? 1 : 0,
          traits.exponent,
          in_units(base, traits.exponent) ? 1 : 0};
}

/// A thread block works on a group, as many tiles at a time as it has threads.
__global__ void __launch_bounds__(start_threads)
    tile_starts_kernel(const FloatTileTotals totals, const NonFinite* non_finite,
                       const FloatCarry before, const std::uint64_t tiles, TileStart* starts) {
  __shared__ GroupState group;
  for (int i = static_cast<int>(threadIdx.x); i < ExactSum::limbs; i += start_threads) {
    group.base[i] = before.sum.limb[i] +
                    totals.group_limbs[static_cast<unsigned>(i) * totals.groups.count + blockIdx.x];
  }
  const std::uint64_t first = blockIdx.x * totals.groups.tiles_each;
  const std::uint64_t end = min(first + totals.groups.tiles_each, tiles);
  for (std::uint64_t tile = first + threadIdx.x; tile - threadIdx.x < end; tile += start_threads) {
    const TileTraits traits = tile < end ? totals.traits[tile] : TileTraits{};
    const TileRow row(totals, tile, traits);
    find_columns(group, row);
    const DigitNumber sum = prefix_of_tile(group, row);
    if (tile < end) starts[tile] = start_of_tile(sum, traits, *non_finite, before, tile);
    __syncthreads();
    for (int i = group.first + static_cast<int>(threadIdx.x); i < group.end; i += start_threads)
      group.base[i] += group.total[i];
    __syncthreads();
  }
}

}  // namespace

void tile_starts(const FloatTileTotals& totals, const NonFinite* non_finite,
                 const FloatCarry& before, std::uint64_t tiles, TileStart* starts,
                 cudaStream_t stream) {
  launch("starting the prefixes of tiles on the GPU", tile_starts_kernel,
         {totals.groups.count, start_threads, stream}, totals, non_finite, before, tiles, starts);
}

}  // namespace warpfold::cuda::kernels
