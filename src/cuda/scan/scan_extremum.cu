#include <limits>
#include <type_traits>

#include "cuda/primitives/comparable.cuh"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/scan/scan_extremum.hpp"
#include "cuda/scan/write_prefixes.cuh"
#include "cuda/tiles/scan_tile.cuh"

namespace warpfold::cuda::kernels {
namespace {

/// The first of the least (greatest) elements; the first NaN where there is one.
template <class T>
struct RunningExtremum {
  using Value = Comparable<T>;

  bool maximum;

  __device__ Value value(T element) const { return comparable(element); }

  __device__ Value identity() const {
    if constexpr (is_floating_element<T>) {
      constexpr Value infinity = std::numeric_limits<Value>::infinity();
      return maximum ? -infinity : infinity;
    } else {
      return maximum ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    }
  }

  __device__ Value operator()(Value left, Value right) const {
    return first_extremum(left, right, maximum);
  }

  /// What the elements before a tile leave it.
  __device__ Value carry(const Extremum& before, const Extremum& in_block, bool nan) const {
    if constexpr (is_floating_element<T>)
      if (nan) return std::numeric_limits<Value>::quiet_NaN();
    Value best = identity();
    if (before.seen()) best = comparable_of_bits<Value>(before.bits);
    if (!in_block.seen()) return best;
    const Value right = comparable_of_bits<Value>(in_block.bits);
    return before.seen() ? (*this)(best, right) : right;
  }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    scan_extremum_kernel(const BlockView block, const Extremum* tile_extrema,
                         const NonFinite* non_finite, const ExtremumCarry before,
                         const bool maximum, const bool exclusive, const OverflowCheck check) {
  const Tile tile(block);
  const RunningExtremum<T> operation{maximum};
  const bool nan = before.nan || non_finite->first_tile[0] < blockIdx.x;
  const auto carry = operation.carry(before.best, tile_extrema[blockIdx.x], nan);
  const auto write = [&](std::int32_t place, const auto& extrema) {
    Quad<std::conditional_t<is_floating_element<T>, double, int128>> prefixes;
#pragma unroll
    for (int k = 0; k < scan_order::lane_elements; ++k) prefixes.element[k] = extrema.element[k];
    if constexpr (is_floating_element<T>)
      write_prefixes(block, tile, place, prefixes);
    else
      write_prefixes(block, tile, place, prefixes, check);
  };
  scan_tile<T>(block, tile, operation, carry, exclusive, write);
}

}  // namespace

void scan_extremum(const BlockView& block, const Extremum* tile_extrema,
                   const NonFinite* non_finite, const ExtremumCarry& before, bool maximum,
                   bool exclusive, const OverflowCheck& check, cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    scan_extremum_kernel<decltype(element)>
        <<<static_cast<unsigned>(block.tiles()), tile_threads, 0, stream>>>(
            block, tile_extrema, non_finite, before, maximum, exclusive, check);
  });
  check_launch("starting the scan on the GPU");
}

}  // namespace warpfold::cuda::kernels
