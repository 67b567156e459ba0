#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "core/layout/partition.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda::kernels {

/// Limbs of an ExactSum, all others zero.
struct LimbRange {
  std::int32_t first;
  std::int32_t count;
};

/// What a tile of floats holds, besides the limbs of its sum.
struct TileTraits {
  scan_order::TileSpecials first;  ///< tile_elements where there is none
  std::int32_t any_huge;           ///< whether a finite element reaches scan_order::huge
  std::int32_t exponent;           ///< the elements short of huge are below 2^exponent
  LimbRange sum;                   ///< the limbs that the tile's sum has
};

/// Consecutive tiles whose sum is known besides those of the tiles, so that prefixes of tiles need
/// no scan of all of them.
struct TileGroups {
  static constexpr std::uint64_t maximum = 1024;
  static constexpr std::uint64_t step = 128;

  explicit TileGroups(std::uint64_t tiles)
      : tiles_each(round_up(ceil_div(tiles, maximum), step)), count(ceil_div(tiles, tiles_each)) {}

  /// Returns the most groups of `tiles` tiles or fewer.
  static std::uint64_t max_of(std::uint64_t tiles) {
    return std::min(maximum, ceil_div(tiles, step));
  }

  std::uint64_t tiles_each;  ///< a multiple of `step`
  std::uint64_t count;       ///< at most `maximum`
};

/// Exact sums of tiles and of groups of tiles. A tile's limb lies in (-2^33, 2^33), so that 2^29
/// tiles can be added limb by limb.
struct FloatTileTotals {
  std::int64_t* limbs;  ///< a row of an ExactSum for each tile
  TileTraits* traits;
  std::int64_t* group_limbs;  ///< a column of groups for each limb of an ExactSum
  TileGroups groups;
};

/// Sums tiles and groups of them. `group_limbs` has to be zero before.
void float_tile_totals(const BlockView& block, const FloatTileTotals& totals, NonFinite* non_finite,
                       cudaStream_t stream);

/// Where the scan of a tile of floats begins.
struct TileStart {
  scan_order::TileBase base;  ///< unless there is anything huge
  LimbRange base_limbs;       ///< of the base in full, which is in the tile's row
  scan_order::TileSpecials first;
  std::int32_t any_huge;  ///< in the tile, or its base
  std::int32_t exponent;  ///< as in TileTraits
};

/// What is before a block of floats.
struct FloatCarry {
  ExactSum sum;  ///< limbs in (-2^32, 2^32); few columns are worked on where few are not zero
  bool nan;
  bool positive_infinity;
  bool negative_infinity;
};

/// Finds where tiles start, of `totals` with the limbs of each group replaced by those of the
/// groups before it. Replaces the limbs of each tile by those of everything before it.
void tile_starts(const FloatTileTotals& totals, const NonFinite* non_finite,
                 const FloatCarry& before, std::uint64_t tiles, TileStart* starts,
                 cudaStream_t stream);

/// What the scan of a block takes to know of its tiles.
struct StartedTiles {
  const TileStart* start;
  const std::int64_t* base_limbs;  ///< a row of an ExactSum for each tile
};

/// Tiles put off, to be scanned in full width: as many as the block has at most.
struct TileList {
  std::uint32_t* tile;
  std::uint32_t* count;  ///< 0 before the scan
};

/// Writes the prefix sums of a block of floats, each rounded once.
void scan_sum_float(const BlockView& block, const StartedTiles& tiles, const TileList& put_off,
                    bool exclusive, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
