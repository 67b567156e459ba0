#pragma once

#include <cuda_runtime_api.h>

#include "cuda/kernels/block_view.hpp"
#include "cuda/kernels/tile_prefix.hpp"

namespace warpfold::cuda::kernels {

/// Writes the prefix sums of a block of floats, in the order of additions of scan_arithmetic.hpp.
void scan_sum_float(const BlockView& block, const TileStart* starts, bool exclusive,
                    cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
