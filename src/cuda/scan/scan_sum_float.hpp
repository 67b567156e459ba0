#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/tile_starts.hpp"

namespace warpfold::cuda::kernels {

/// Tiles put off, to be scanned in the general way: as many as the block has at most.
struct TileList {
  std::uint32_t* tile;
  std::uint32_t* count;  ///< 0 before the scan
};

/// Writes the prefix sums of a block of floats, in the order of additions of scan_arithmetic.hpp.
void scan_sum_float(const BlockView& block, const TileStart* starts, const TileList& put_off,
                    bool exclusive, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
