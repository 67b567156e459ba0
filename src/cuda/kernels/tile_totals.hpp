#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/scan_arithmetic.hpp"
#include "cuda/kernels/block_view.hpp"
#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

/// What a tile of floats holds besides its sum.
struct TileTraits {
  scan_order::TileSpecials first;  ///< tile_elements where there is none
  std::int32_t any_huge;           ///< whether a finite element reaches scan_order::huge
};

/// Exact sums of tiles, limb i of tile t at limbs[i * tiles + t]. A limb lies in (-2^33, 2^33), so
/// that 2^29 tiles can be added limb by limb.
struct FloatTileTotals {
  std::int64_t* limbs;
  TileTraits* traits;
};

inline constexpr std::uint64_t most_tiles = std::uint64_t{1} << 29;

void float_tile_totals(const BlockView& block, const FloatTileTotals& totals, NonFinite* non_finite,
                       cudaStream_t stream);

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream);

/// The minimum (maximum) of each tile; indices count from the block's start.
void extremum_tile_totals(const BlockView& block, bool maximum, Extremum* extrema,
                          NonFinite* non_finite, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
