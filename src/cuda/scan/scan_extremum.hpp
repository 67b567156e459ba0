#pragma once

#include <cuda_runtime_api.h>

#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/accumulator.hpp"

namespace warpfold::cuda::kernels {

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
