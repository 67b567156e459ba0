#include <cmath>

#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/digit_columns.cuh"
#include "cuda/tiles/float_tiles.hpp"

namespace warpfold::cuda::kernels {
namespace {

static_assert(TileGroups::step == column_threads);

/// A tile's limbs, zero outside their range.
class TileRow {
 public:
  __device__ TileRow(const FloatTileTotals& totals, std::uint64_t tile, const TileTraits& traits)
      : limbs_(totals.limbs + tile * ExactSum::limbs),
        first_(traits.sum.first),
        end_(traits.sum.first + traits.sum.count) {}

  __device__ std::int64_t limb(int i) const { return i >= first_ && i < end_ ? limbs_[i] : 0; }
  __device__ void put(int i, std::int64_t limb) const { limbs_[i] = limb; }
  __device__ int first() const { return first_; }
  __device__ int end() const { return end_; }

 private:
  std::int64_t* limbs_;
  int first_;
  int end_;
};

/// Leaves in the tile's row what is before it, in place of its own sum.
__device__ LimbRange store_base(const DigitColumns& columns, const TileRow& row) {
  const int count = columns.count();
  for (int i = 0; i < count; ++i) {
    const std::int64_t sign = i == count - 1 ? columns.digit[count][threadIdx.x] : 0;
    row.put(columns.first + i, sign << 32 | columns.digit[i][threadIdx.x]);
  }
  return {columns.first, count};
}

__device__ std::int32_t first_seen(bool before_block, const NonFinite& non_finite, int kind,
                                   std::uint64_t tile, std::int32_t in_tile) {
  return before_block || non_finite.first_tile[kind] < tile ? -1 : in_tile;
}

__device__ TileStart start_of_tile(const DigitNumber& sum, LimbRange base_limbs,
                                   const TileTraits& traits, const NonFinite& non_finite,
                                   const FloatCarry& before, std::uint64_t tile) {
  const bool huge = traits.any_huge != 0 || std::fabs(sum.rounded()) >= scan_order::huge;
  const auto first = [&](bool before_block, int kind, std::int32_t in_tile) {
    return first_seen(before_block, non_finite, kind, tile, in_tile);
  };
  return {huge ? scan_order::TileBase{} : scan_order::TileBase{sum.rounded_pair(), sum.least_bit()},
          base_limbs,
          {first(before.nan, 0, traits.first.nan),
           first(before.positive_infinity, 1, traits.first.positive_infinity),
           first(before.negative_infinity, 2, traits.first.negative_infinity)},
          huge ? 1 : 0,
          traits.exponent};
}

/// A thread block works on a group, as many tiles at a time as it has threads.
__global__ void __launch_bounds__(column_threads)
    tile_starts_kernel(const FloatTileTotals totals, const NonFinite* non_finite,
                       const FloatCarry before, const std::uint64_t tiles, TileStart* starts) {
  __shared__ DigitColumns columns;
  for (int i = static_cast<int>(threadIdx.x); i < ExactSum::limbs; i += column_threads) {
    columns.base[i] =
        before.sum.limb[i] +
        totals.group_limbs[static_cast<unsigned>(i) * totals.groups.count + blockIdx.x];
  }
  const std::uint64_t first = blockIdx.x * totals.groups.tiles_each;
  const std::uint64_t end = min(first + totals.groups.tiles_each, tiles);
  for (std::uint64_t tile = first + threadIdx.x; tile - threadIdx.x < end; tile += column_threads) {
    const TileTraits traits = tile < end ? totals.traits[tile] : TileTraits{};
    const TileRow row(totals, tile, traits);
    find_columns(columns, row.first(), row.end());
    const DigitNumber sum =
        digit_prefix(columns, [&](int i) { return row.limb(columns.first + i); });
    if (tile < end)
      starts[tile] =
          start_of_tile(sum, store_base(columns, row), traits, *non_finite, before, tile);
    __syncthreads();
    for (int i = columns.first + static_cast<int>(threadIdx.x); i < columns.end;
         i += column_threads)
      columns.base[i] += columns.total[i];
    __syncthreads();
  }
}

}  // namespace

void tile_starts(const FloatTileTotals& totals, const NonFinite* non_finite,
                 const FloatCarry& before, std::uint64_t tiles, TileStart* starts,
                 cudaStream_t stream) {
  launch("starting the prefixes of tiles on the GPU", tile_starts_kernel,
         {totals.groups.count, column_threads, stream}, totals, non_finite, before, tiles, starts);
}

}  // namespace warpfold::cuda::kernels
