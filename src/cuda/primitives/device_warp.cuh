#pragma once

#include <cstdint>

#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// Collective operations of a GPU's warp.
struct DeviceWarp {
  static __device__ std::uint32_t lane() { return static_cast<std::uint32_t>(warp::lane()); }

  template <class T>
  static __device__ T shuffle(T value, std::uint32_t source) {
    return warp::shuffle(value, static_cast<int>(source));
  }

  static __device__ std::uint32_t ballot(bool says) { return warp::ballot(says); }
  static __device__ bool any(bool says) { return warp::any(says); }
  static __device__ void synchronize() { warp::synchronize(); }
  static __device__ std::uint32_t load(const std::uint32_t* word) { return __ldg(word); }
  static __device__ std::uint32_t take(std::uint32_t* counter, std::uint32_t count) {
    return atomicAdd(counter, count);
  }
};

}  // namespace warpfold::cuda::kernels
