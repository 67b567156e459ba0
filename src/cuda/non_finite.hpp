#pragma once

#include "cuda/copy.hpp"
#include "cuda/kernels/block_view.hpp"
#include "cuda/stream.hpp"

namespace warpfold::cuda {

/// Makes `counts`, in device memory, ready for a block's elements.
inline void clear(kernels::NonFinite* counts, const Stream& stream) {
  fill_bytes(counts->count, 0, sizeof(counts->count), stream.get());
  fill_bytes(counts->first_tile, 0xff, sizeof(counts->first_tile), stream.get());
}

}  // namespace warpfold::cuda
