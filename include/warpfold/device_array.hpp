#pragma once

#include <cstdint>

#include "warpfold/core/array.hpp"

struct CUstream_st;

namespace warpfold {

/// CUDA's cudaStream_t, without CUDA's headers. Null is the default stream.
using DeviceStream = CUstream_st*;

/// An array in the memory of the current device.
using DeviceArray = Array;

/// Describes `count` elements from `data` on, in device memory.
template <class T>
DeviceArray device_array(const T* data, std::uint64_t count) {
  return array_of(data, count);
}

}  // namespace warpfold
