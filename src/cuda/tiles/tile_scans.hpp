#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/results/accumulator.hpp"
#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

inline constexpr std::uint64_t max_tiles = std::uint64_t{1} << 29;

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream);

/// Finds the minimum (maximum) of each tile; indices count from the block's start.
void extremum_tile_totals(const BlockView& block, bool maximum, Extremum* extrema,
                          NonFinite* non_finite, cudaStream_t stream);

// Each replaces the totals of tiles, or groups of them, by the total of those before, in place, and
// writes the total of all.

/// Takes ExactSum::limbs columns of the limbs of `groups` of tiles, and as many totals.
void limb_prefixes(std::int64_t* limbs, std::uint64_t groups, std::int64_t* totals,
                   cudaStream_t stream);

void integer_prefixes(int128* sums, std::uint64_t tiles, int128* total, cudaStream_t stream);

void extremum_prefixes(Extremum* extrema, std::uint64_t tiles, Extremum* total,
                       cudaStream_t stream);

/// Writes the prefix sums of a block of integers. `tile_sums` holds, for each tile, the sum of
/// those before it in the block; `before` is the sum of everything before the block.
void scan_sum_integer(const BlockView& block, const int128* tile_sums, int128 before,
                      bool exclusive, const OverflowCheck& check, cudaStream_t stream);

struct ExtremumCarry {
  Extremum best;  ///< of everything before the block
  bool nan;       ///< whether a NaN is there
};

/// Writes the running minima or maxima of a block. `tile_extrema` holds, for each tile, the
/// extremum of those before it in the block.
void scan_extremum(const BlockView& block, const Extremum* tile_extrema,
                   const NonFinite* non_finite, const ExtremumCarry& before, bool maximum,
                   bool exclusive, const OverflowCheck& check, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
