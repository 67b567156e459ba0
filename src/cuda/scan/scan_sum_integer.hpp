#pragma once

#include <cuda_runtime_api.h>

#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

/// Writes the prefix sums of a block of integers. `tile_sums` holds, for each tile, the sum of
/// those before it in the block; `before` is the sum of everything before the block.
void scan_sum_integer(const BlockView& block, const int128* tile_sums, int128 before,
                      bool exclusive, const OverflowCheck& check, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
