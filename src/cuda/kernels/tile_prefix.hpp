#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/scan_arithmetic.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/fixed_point.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

// Each replaces the tiles' totals by the total of the tiles before them, in place, and writes the
// total of all.

/// ExactSum::limbs columns of `tiles` limbs; as many totals.
void limb_prefixes(std::int64_t* limbs, std::uint64_t tiles, std::int64_t* totals,
                   cudaStream_t stream);

void integer_prefixes(int128* sums, std::uint64_t tiles, int128* total, cudaStream_t stream);

void extremum_prefixes(Extremum* extrema, std::uint64_t tiles, Extremum* total,
                       cudaStream_t stream);

/// Where the scan of a tile of floats begins.
struct TileStart {
  DoublePair base;  ///< the sum of all finite elements before the tile, scaled
  scan_order::TileSpecials first;
  std::int32_t any_huge;  ///< in the tile or its base, which decides on the scale
};

/// What is before a block of floats.
struct FloatCarry {
  ExactSum sum;  ///< normalized
  bool nan;
  bool positive_infinity;
  bool negative_infinity;
};

/// `prefixes` after limb_prefixes().
void tile_starts(const FloatTileTotals& prefixes, const NonFinite* non_finite,
                 const FloatCarry& before, std::uint64_t tiles, TileStart* starts,
                 cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
