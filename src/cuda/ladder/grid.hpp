#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cuda/cuda_error.hpp"
#include "cuda/device.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::cuda::ladder {

/// Blocks of `block_elements` that cover `elements`; one where there are none. A grid has room for
/// 2^31 - 1 of them, more than a device's memory has.
inline unsigned covering_blocks(std::uint64_t elements, std::uint64_t block_elements) {
  return static_cast<unsigned>(std::max<std::uint64_t>(ceil_div(elements, block_elements), 1));
}

/// Of the current device.
inline unsigned multiprocessors() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current GPU");
  return static_cast<unsigned>(Device(device, std::nullopt, 1).multiprocessors());
}

}  // namespace warpfold::cuda::ladder
