#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace warpfold::bench::kernels {

/// How many blocks of the probe the current device holds at once.
int resident_probe_blocks();

/// Only reads an array, aligned to 16 bytes, at the rate that the memory gives it: its 32-bit words
/// (up to the last multiple of 16 bytes) are combined by exclusive or into `*result`, in device
/// memory, to what is there. At most `blocks` blocks are started.
void read_probe(const void* array, std::uint64_t bytes, std::uint32_t* result, int blocks,
                cudaStream_t stream);

}  // namespace warpfold::bench::kernels
