#pragma once

#include <cuda_runtime_api.h>

#include "cuda/runtime/copy.hpp"
#include "cuda/tiles/block_view.hpp"

namespace warpfold::cuda {

/// Makes `counts`, in device memory, ready for a block's elements.
inline void clear(kernels::NonFinite* counts, cudaStream_t stream) {
  fill_bytes(counts->count, 0, sizeof(counts->count), stream);
  fill_bytes(counts->first_tile, 0xff, sizeof(counts->first_tile), stream);
}

}  // namespace warpfold::cuda
