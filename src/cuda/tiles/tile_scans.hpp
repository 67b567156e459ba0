#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/results/accumulator.hpp"
#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

inline constexpr std::uint64_t max_tiles = std::uint64_t{1} << 29;

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream);

/// Finds the minimum (maximum) of each tile; indices count from the block's start. `first_nan`, all
/// bits set before, becomes the first tile with a NaN.
void extremum_tile_totals(const BlockView& block, bool maximum, Extremum* extrema,
                          unsigned long long* first_nan, cudaStream_t stream);

// Each replaces the totals of tiles by the total of those before, in place.

void integer_prefixes(int128* sums, std::uint64_t tiles, cudaStream_t stream);

void extremum_prefixes(Extremum* extrema, std::uint64_t tiles, cudaStream_t stream);

/// Writes the prefix sums of a block of integers. `tile_sums` holds, for each tile, the sum of
/// those before it in the block; `before` is the sum of everything before the block.
void scan_sum_integer(const BlockView& block, const int128* tile_sums, int128 before,
                      bool exclusive, const OverflowCheck& check, cudaStream_t stream);

struct ExtremumCarry {
  Extremum best;  ///< extremum of everything before the block
  bool nan;       ///< whether a NaN is there
};

/// Writes the running minima or maxima of a block. `tile_extrema` holds, for each tile, the
/// extremum of those before it in the block.
void scan_extremum(const BlockView& block, const Extremum* tile_extrema,
                   const unsigned long long* first_nan, const ExtremumCarry& before, bool maximum,
                   bool exclusive, const OverflowCheck& check, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
