#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

inline constexpr std::uint64_t max_tiles = std::uint64_t{1} << 29;

void integer_tile_totals(const BlockView& block, int128* sums, cudaStream_t stream);

/// The minimum (maximum) of each tile; indices count from the block's start.
void extremum_tile_totals(const BlockView& block, bool maximum, Extremum* extrema,
                          NonFinite* non_finite, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
