#pragma once

#include <cstdint>

namespace warpfold::cuda {

/// Returns an address of shared memory as PTX takes it.
__device__ inline std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

}  // namespace warpfold::cuda
