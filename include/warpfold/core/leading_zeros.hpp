#pragma once

#include <bit>
#include <cstdint>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// The zero bits above the leading one; 64 for zero. nvcc compiles std::countl_zero of 64 bits for
/// the device without complaint, to something else.
WARPFOLD_HD inline int leading_zeros(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(value));
#else
  return std::countl_zero(value);
#endif
}

}  // namespace warpfold
