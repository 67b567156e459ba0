#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

inline void copy_to_device(void* device, const void* host, std::uint64_t bytes,
                           cudaStream_t stream) {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "a copy to the GPU");
}

/// The host memory holds the bytes once the stream is synchronized.
inline void copy_to_host(void* host, const void* device, std::uint64_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream),
        "a copy from the GPU");
}

inline void copy_on_device(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "a copy on the GPU");
}

inline void fill_bytes(void* device, int value, std::uint64_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(device, value, bytes, stream), "filling GPU memory");
}

}  // namespace warpfold::cuda
