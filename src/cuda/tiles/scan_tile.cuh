#pragma once

#include <cstdint>

#include "core/scan/scan_arithmetic.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/tiles/tile.cuh"

namespace warpfold::cuda::kernels {

/// This lane's elements from `place` on as the operator's values.
template <class T, class Operator>
__device__ Quad<typename Operator::Value> read_values(const BlockView& block, const Tile& tile,
                                                      std::int32_t place,
                                                      const Operator& operation) {
  const Quad<T> quad = read_quad<T>(block, tile, place);
  Quad<typename Operator::Value> values;
#pragma unroll
  for (int k = 0; k < scan_order::lane_elements; ++k)
    values.element[k] =
        k < tile.present(place) ? operation.value(quad.element[k]) : operation.identity();
  return values;
}

/// Scans the tile from `carry` on with an associative operator, which has a type Value and
/// functions value(T), identity() and operator()(Value, Value). Calls write(place, Quad<Value>) for
/// the lane's prefixes of each row. By all threads of the block; every lane reads its elements of a
/// row before it writes them.
template <class T, class Operator, class Write>
__device__ void scan_tile(const BlockView& block, const Tile& tile, const Operator& operation,
                          typename Operator::Value carry, bool exclusive, Write&& write) {
  using Value = typename Operator::Value;
  __shared__ Value segment_total[scan_order::tile_segments];
  Value total = operation.identity();
#pragma unroll 1
  for (int row = 0; row < scan_order::tile_rows; ++row) {
    const auto values = read_values<T>(block, tile, place_in_tile(row), operation);
    Value own = values.element[0];
#pragma unroll
    for (int k = 1; k < scan_order::lane_elements; ++k) own = operation(own, values.element[k]);
    total = operation(total, warp::reduce(own, operation));
  }
  if (warp::lane() == 0) segment_total[warp::index()] = total;
  __syncthreads();
  for (int segment = 0; segment < warp::index(); ++segment)
    carry = operation(carry, segment_total[segment]);

#pragma unroll 1
  for (int row = 0; row < scan_order::tile_rows; ++row) {
    const std::int32_t place = place_in_tile(row);
    auto values = read_values<T>(block, tile, place, operation);
#pragma unroll
    for (int k = 1; k < scan_order::lane_elements; ++k)
      values.element[k] = operation(values.element[k - 1], values.element[k]);
    const Value lanes =
        warp::inclusive_scan(values.element[scan_order::lane_elements - 1], operation);
    const Value lanes_below = warp::shuffle_up(lanes, 1);
    const Value left = warp::lane() == 0 ? carry : operation(carry, lanes_below);
    Quad<Value> prefixes;
    if (exclusive) {
      prefixes.element[0] = left;
#pragma unroll
      for (int k = 1; k < scan_order::lane_elements; ++k)
        prefixes.element[k] = operation(left, values.element[k - 1]);
    } else {
#pragma unroll
      for (int k = 0; k < scan_order::lane_elements; ++k)
        prefixes.element[k] = operation(left, values.element[k]);
    }
    write(place, prefixes);
    carry = operation(carry, warp::shuffle(lanes, warp::lanes - 1));
  }
}

}  // namespace warpfold::cuda::kernels
