#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/stream.hpp"

/// Copies to the host that return once they, and all that `stream` held before, are done.
namespace warpfold::cuda {

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
