#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/scan/scan_arithmetic.hpp"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/float_tile_totals.hpp"
#include "warpfold/core/double_pair.hpp"
#include "warpfold/core/fixed_point.hpp"

namespace warpfold::cuda::kernels {

/// Where the scan of a tile of floats begins.
struct TileStart {
  DoublePair base;  ///< the sum of all finite elements before the tile, scaled
  scan_order::TileSpecials first;
  std::int32_t any_huge;       ///< in the tile or its base, which decides on the scale
  std::int32_t exponent;       ///< as in TileTraits
  std::int32_t base_in_units;  ///< whether the PairSlices of the tile hold the base
};

/// What is before a block of floats.
struct FloatCarry {
  ExactSum sum;  ///< limbs in (-2^32, 2^32); few columns are worked on where few are not zero
  bool nan;
  bool positive_infinity;
  bool negative_infinity;
};

/// `totals` with the limbs of each group replaced by those of the groups before it.
void tile_starts(const FloatTileTotals& totals, const NonFinite* non_finite,
                 const FloatCarry& before, std::uint64_t tiles, TileStart* starts,
                 cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
