#pragma once

#include <cstdint>

#include "cuda/primitives/warp.cuh"
#include "cuda/reduce/reduce_elements.cuh"
#include "cuda/reduce/reduce_sums.cuh"

namespace warpfold::cuda::kernels {

/// In shared memory: a warp's elements outside of its window, which wait to be summed in other
/// ones, and the sums of those before them.
template <class T>
struct FarElements {
  static constexpr int of_lane = 8;  ///< in a batch
  static constexpr int batch = of_lane * warp::lanes;

  WarpSums sums;
  int count;
  T element[static_cast<std::size_t>(batch + warp::lanes * ThreadTile<T>::size)];

  /// Takes the tile's elements of the mask, and makes them zero there: `through` are all of the
  /// lanes up to this one. By all lanes of the warp, where no more than a batch wait.
  __device__ void take(ThreadTile<T>& tile, std::uint32_t mask, int through) {
    int place = count + through - __popc(mask);
    __syncwarp();
    if (warp::lane() == warp::lanes - 1) count += through;
    auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < ThreadTile<T>::size; ++i) {
      if ((mask >> i & 1) == 0) continue;
      element[place++] = elements[i];
      elements[i] = T{};
    }
    tile.set(elements);
    __syncwarp();
  }
};

}  // namespace warpfold::cuda::kernels
