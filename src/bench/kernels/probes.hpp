#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace warpfold::bench::kernels {

/// Returns how many blocks of read_probe() the current device holds at once.
int resident_probe_blocks();

/// Only reads an array, aligned to 16 bytes, at the rate that the memory gives it: its 32-bit words
/// (up to the last multiple of 16 bytes) are combined by exclusive or into `*result`, in device
/// memory, to what is there. At most `blocks` blocks are started.
void read_probe(const void* array, std::uint64_t bytes, std::uint32_t* result, int blocks,
                cudaStream_t stream);

/// Stores value, value + 1, ... in `words` words at `payload`, in device or page-locked host
/// memory, and then `epoch` at `flag`, for a host that waits for it; a null `flag` is left out.
void publish(std::uint64_t* payload, int words, std::uint64_t value, std::uint32_t* flag,
             std::uint32_t epoch, cudaStream_t stream);

}  // namespace warpfold::bench::kernels
