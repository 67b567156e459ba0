#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace warpfold::bench::kernels {

/// Stores value, value + 1, ... in `words` words at `payload`, in device or page-locked host
/// memory, and then `epoch` at `flag`, for a host that waits for it; a null `flag` is left out.
void publish(std::uint64_t* payload, int words, std::uint64_t value, std::uint32_t* flag,
             std::uint32_t epoch, cudaStream_t stream);

}  // namespace warpfold::bench::kernels
