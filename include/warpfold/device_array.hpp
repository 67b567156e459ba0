#pragma once

#include <cstdint>

#include "warpfold/core/element_type.hpp"

struct CUstream_st;

namespace warpfold {

/// A device stream is CUDA's cudaStream_t, without CUDA's headers. Null is the default stream.
using DeviceStream = CUstream_st*;

/// A device array is this rank's partition of an array that the ranks hold in rank order: `count`
/// elements in native byte order, aligned to their size, in the memory of the current device. May
/// be empty.
struct DeviceArray {
  const void* data = nullptr;
  std::uint64_t count = 0;
  ElementType type = ElementType::f64;
};

template <class T>
DeviceArray device_array(const T* data, std::uint64_t count) {
  return {data, count, element_type_of<T>()};
}

}  // namespace warpfold
