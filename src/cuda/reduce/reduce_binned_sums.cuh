#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/reduce/reduce_bins.cuh"
#include "cuda/reduce/reduce_float_slices.cuh"
#include "cuda/reduce/reduce_one_bin.cuh"

namespace warpfold::cuda::kernels {

/// In place of sums that take tiles of few orders in less time than bins.
struct NoFastSums {
  static constexpr std::uint32_t flush_tiles = std::uint32_t{1} << 31;
};

template <class T, ReduceNeeds needs>
constexpr auto fast_sums_type() {
  if constexpr (std::is_same_v<T, double> && needs.squares)
    return std::type_identity<OneBin<T, needs>>{};
  else if constexpr (std::is_same_v<T, double>)
    return std::type_identity<NoFastSums>{};
  else if constexpr (needs.squares)
    return std::type_identity<FloatSquareSlices<T, needs.absolute>>{};
  else
    return std::type_identity<FloatSlices<T>>{};
}

/// A thread's exact sums of floats, of their magnitudes and squares, without FP64 arithmetic.
template <class T, ReduceNeeds needs, int SharedBytes>
class BinnedSums : public SumsWithoutWindow<T> {
  using Tile = ThreadTile<T>;
  using Bins = kernels::Bins<T, needs, SharedBytes>;
  using FastSums = typename decltype(fast_sums_type<T, needs>())::type;

 public:
  using Shared = typename Bins::Shared;
  static constexpr std::uint32_t settle_tiles = Bins::settle_tiles;
  static_assert(FastSums::flush_tiles % settle_tiles == 0);

  __device__ BinnedSums(BlockTotals& block, Shared& shared) : block_(block), bins_(block, shared) {}

  /// Chooses where sums start for the block whose threads start with these tiles. By all of its
  /// threads.
  __device__ void open(const Tile& tile, bool has_tile) {
    bins_.open(tile, has_tile);
    if constexpr (has_fast)
      if (has_tile) fast_.open(place_for(tile));
  }

  /// Adds a tile, but counts elements that are not finite. By all lanes of the warp.
  __device__ void add(Tile& tile, const ThreadShare<T>& share) {
    if constexpr (has_fast)
      if (take_fast(tile)) return;
    bins_.take(tile, share);
  }

  __device__ void settle(const ThreadShare<T>& share) {
    bins_.settle(share);
    if constexpr (has_fast)
      if (!share.at_end() && share.is_due(FastSums::flush_tiles)) fast_.flush(bins_, block_);
  }

  /// Adds the sums to the block's. By all threads of the block.
  __device__ void flush() {
    if constexpr (has_fast) fast_.flush(bins_, block_);
    bins_.flush();
    __syncthreads();
  }

 private:
  static constexpr bool has_fast = !std::is_same_v<FastSums, NoFastSums>;
  static constexpr int many_lanes = warp::lanes / 4;

  /// Adds the tiles of as many lanes as it can, and makes them zero. Returns whether it is all. By
  /// all lanes of the warp.
  __device__ bool take_fast(Tile& tile) {
    if (skipped_ != 0) {
      --skipped_;
      return false;
    }
    const bool taken = fast_.add(tile);
    const int others = __popc(warp::ballot(!taken));
    if (others <= many_lanes) moved_ = false;
    if (others == 0) return true;
    if (others > many_lanes) reconsider(tile);
    if (taken) tile.keep(0);
    return false;
  }

  /// Places the fast sums for such tiles. Omits them for a while if they are there, or took none
  /// where they were placed before. By all lanes of the warp.
  __device__ void reconsider(const Tile& tile) {
    const int place = place_for(tile);
    if (moved_ || place == fast_.place()) skipped_ = 32;
    if (place == fast_.place()) return;
    fast_.flush(bins_, block_);
    fast_.open(place);
    moved_ = true;
  }

  __device__ static int place_for(const Tile& tile) {
    return FastSums::place_for(greatest_field(tile, FloatWords<T>::non_finite_field));
  }

  BlockTotals& block_;
  Bins bins_;
  FastSums fast_;
  std::uint32_t skipped_ = 0;  ///< tiles before the fast sums are tried again
  bool moved_ = false;         ///< the fast sums moved and took no tile since
};

}  // namespace warpfold::cuda::kernels
