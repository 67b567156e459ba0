#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/stream.hpp"

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

template <class T>
T downloaded_value(const void* device, cudaStream_t stream) {
  T value;
  copy_to_host(&value, device, sizeof(value), stream);
  synchronize(stream);
  return value;
}

template <class T>
std::vector<T> downloaded_array(const void* device, std::uint64_t elements, cudaStream_t stream) {
  std::vector<T> array(elements);
  copy_to_host(array.data(), device, elements * sizeof(T), stream);
  synchronize(stream);
  return array;
}

}  // namespace warpfold::cuda
