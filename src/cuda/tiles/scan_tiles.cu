#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/scan/scan_arithmetic.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/tile.cuh"
#include "cuda/tiles/tile_scans.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {
namespace {

/// This lane's elements from `place` on as the operator's values.
template <class T, class Operator>
__device__ Quad<typename Operator::Value> read_values(const BlockView& block, const Tile& tile,
                                                      std::int32_t place,
                                                      const Operator& operation) {
  const Quad<T> quad = read_quad<T>(block, tile, place);
  Quad<typename Operator::Value> values;
#pragma unroll
  for (int k = 0; k < quad_elements; ++k)
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
  __shared__ Value segment_total[tile_segments];
  Value total = operation.identity();
#pragma unroll 1
  for (int row = 0; row < tile_rows; ++row) {
    const auto values = read_values<T>(block, tile, place_in_tile(row), operation);
    Value own = values.element[0];
#pragma unroll
    for (int k = 1; k < quad_elements; ++k) own = operation(own, values.element[k]);
    total = operation(total, warp::reduce(own, operation));
  }
  if (warp::lane() == 0) segment_total[warp::index()] = total;
  __syncthreads();
  for (int segment = 0; segment < warp::index(); ++segment)
    carry = operation(carry, segment_total[segment]);

#pragma unroll 1
  for (int row = 0; row < tile_rows; ++row) {
    const std::int32_t place = place_in_tile(row);
    auto values = read_values<T>(block, tile, place, operation);
#pragma unroll
    for (int k = 1; k < quad_elements; ++k)
      values.element[k] = operation(values.element[k - 1], values.element[k]);
    const Value lanes = warp::inclusive_scan(values.element[quad_elements - 1], operation);
    const Value lanes_below = warp::shuffle_up(lanes, 1);
    const Value left = warp::lane() == 0 ? carry : operation(carry, lanes_below);
    Quad<Value> prefixes;
    if (exclusive) {
      prefixes.element[0] = left;
#pragma unroll
      for (int k = 1; k < quad_elements; ++k)
        prefixes.element[k] = operation(left, values.element[k - 1]);
    } else {
#pragma unroll
      for (int k = 0; k < quad_elements; ++k)
        prefixes.element[k] = operation(left, values.element[k]);
    }
    write(place, prefixes);
    carry = operation(carry, warp::shuffle(lanes, warp::lanes - 1));
  }
}

template <class Out, class Value>
__device__ void write_prefixes_as(const BlockView& block, const Tile& tile, std::int32_t place,
                                  const Quad<Value>& prefixes) {
  Quad<Out> quad;
#pragma unroll
  for (int k = 0; k < quad_elements; ++k)
    quad.element[k] = output_element<Out>(prefixes.element[k]);
  write_elements(block, tile, place, quad);
}

/// Stores floating-point prefixes, whose output types are floating-point too.
__device__ void write_prefixes(const BlockView& block, const Tile& tile, std::int32_t place,
                               const Quad<double>& prefixes) {
  switch (block.output_type) {
    case ElementType::f16:
      return write_prefixes_as<Float16>(block, tile, place, prefixes);
    case ElementType::bf16:
      return write_prefixes_as<BFloat16>(block, tile, place, prefixes);
    case ElementType::f32:
      return write_prefixes_as<float>(block, tile, place, prefixes);
    default:
      return write_prefixes_as<double>(block, tile, place, prefixes);
  }
}

/// Keeps the least index of a prefix that Out can't hold. Reading the known one first spares most
/// threads an atomic operation on one address where everything overflows.
template <class Out>
__device__ void note_overflow(const Tile& tile, std::int32_t place, const Quad<int128>& prefixes,
                              const OverflowCheck& check) {
  const std::int32_t present = tile.present(place);
  int first = quad_elements;
#pragma unroll
  for (int k = quad_elements - 1; k >= 0; --k)
    if (k < present && !can_hold<Out>(prefixes.element[k])) first = k;
  if (first == quad_elements) return;
  const unsigned long long index =
      static_cast<unsigned long long>(tile.first) + static_cast<unsigned long long>(place + first);
  if (index < *static_cast<const volatile unsigned long long*>(check.first_index))
    atomicMin(check.first_index, index);
}

/// Stores integer prefixes and notes those that do not fit.
__device__ void write_prefixes(const BlockView& block, const Tile& tile, std::int32_t place,
                               const Quad<int128>& prefixes, const OverflowCheck& check) {
  visit_element_type(block.output_type, [&](auto element) {
    using Out = decltype(element);
    if (check.enabled) note_overflow<Out>(tile, place, prefixes, check);
    write_prefixes_as<Out>(block, tile, place, prefixes);
  });
}

/// Sums within a tile: 2^12 elements of 32 bits stay below 2^44.
template <class T>
struct TileSum {
  using Value = std::conditional_t<sizeof(T) == 8, int128, std::int64_t>;

  __device__ Value value(T element) const { return element; }
  __device__ Value identity() const { return 0; }
  __device__ Value operator()(Value a, Value b) const { return a + b; }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    scan_sum_integer_kernel(const BlockView block, const int128* tile_sums, const int128 before,
                            const bool exclusive, const OverflowCheck check) {
  const Tile tile(block);
  const int128 base = before + tile_sums[blockIdx.x];
  const auto write = [&](std::int32_t place, const auto& sums) {
    Quad<int128> prefixes;
#pragma unroll
    for (int k = 0; k < quad_elements; ++k) prefixes.element[k] = base + sums.element[k];
    write_prefixes(block, tile, place, prefixes, check);
  };
  scan_tile<T>(block, tile, TileSum<T>{}, 0, exclusive, write);
}

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

  /// Returns what the elements before a tile leave it.
  __device__ Value carry(const Extremum& before, const Extremum& in_block, bool nan) const {
    if constexpr (is_floating_element<T>)
      if (nan) return std::numeric_limits<Value>::quiet_NaN();
    Value best = identity();
    if (before.seen()) best = element_of_bits<Value>(before.bits);
    if (!in_block.seen()) return best;
    const Value right = element_of_bits<Value>(in_block.bits);
    return before.seen() ? (*this)(best, right) : right;
  }
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    scan_extremum_kernel(const BlockView block, const Extremum* tile_extrema,
                         const unsigned long long* first_nan, const ExtremumCarry before,
                         const bool maximum, const bool exclusive, const OverflowCheck check) {
  const Tile tile(block);
  const RunningExtremum<T> operation{maximum};
  const bool nan = before.nan || *first_nan < blockIdx.x;
  const auto carry = operation.carry(before.best, tile_extrema[blockIdx.x], nan);
  const auto write = [&](std::int32_t place, const auto& extrema) {
    Quad<std::conditional_t<is_floating_element<T>, double, int128>> prefixes;
#pragma unroll
    for (int k = 0; k < quad_elements; ++k) prefixes.element[k] = extrema.element[k];
    if constexpr (is_floating_element<T>)
      write_prefixes(block, tile, place, prefixes);
    else
      write_prefixes(block, tile, place, prefixes, check);
  };
  scan_tile<T>(block, tile, operation, carry, exclusive, write);
}

}  // namespace

void scan_sum_integer(const BlockView& block, const int128* tile_sums, int128 before,
                      bool exclusive, const OverflowCheck& check, cudaStream_t stream) {
  visit_kernel_type(block.format.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (!is_floating_element<T>)
      launch("starting the scan on the GPU", scan_sum_integer_kernel<T>,
             {block.tiles(), tile_threads, stream}, block, tile_sums, before, exclusive, check);
  });
}

void scan_extremum(const BlockView& block, const Extremum* tile_extrema,
                   const unsigned long long* first_nan, const ExtremumCarry& before, bool maximum,
                   bool exclusive, const OverflowCheck& check, cudaStream_t stream) {
  visit_kernel_type(block.format.type, [&](auto element) {
    launch("starting the scan on the GPU", scan_extremum_kernel<decltype(element)>,
           {block.tiles(), tile_threads, stream}, block, tile_extrema, first_nan, before, maximum,
           exclusive, check);
  });
}

}  // namespace warpfold::cuda::kernels
