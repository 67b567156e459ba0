#pragma once

#include <bit>
#include <cstdint>

#include "core/scan/scan_arithmetic.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/tiles/block_view.hpp"

namespace warpfold::cuda::kernels {

/// One thread block works on a tile, a warp on each segment of it, row by row.
inline constexpr int tile_segments = 8;
inline constexpr int tile_threads = tile_segments * warp::lanes;
inline constexpr int quad_elements = 4;
inline constexpr int row_elements = warp::lanes * quad_elements;
inline constexpr int tile_rows = scan_order::tile_elements / (tile_segments * row_elements);

/// Four elements of a row in one lane. As LaneElements, but aligned as one element: it may take
/// several vectors.
template <class T>
struct Quad {
  T element[quad_elements];
};

/// Returns the place in its tile of the first of this lane's elements in a row of its warp's
/// segment.
__device__ inline std::int32_t place_in_tile(int row) {
  return (warp::index() * tile_rows + row) * row_elements + warp::lane() * quad_elements;
}

/// This thread block's tile.
struct Tile {
  std::uint64_t first;  ///< its place in the block of elements
  std::int32_t count;   ///< fewer than tile_elements in the last tile only

  __device__ explicit Tile(const BlockView& block)
      : first(std::uint64_t{blockIdx.x} * scan_order::tile_elements) {
    const std::uint64_t rest = block.elements - first;
    count = static_cast<std::int32_t>(rest < scan_order::tile_elements ? rest
                                                                       : scan_order::tile_elements);
  }

  /// Returns how many of the lane's elements from `place` on exist; may be negative or above four.
  __device__ std::int32_t present(std::int32_t place) const { return count - place; }
};

template <class T>
__device__ const T* input_of(const BlockView& block, const Tile& tile) {
  return reinterpret_cast<const T*>(block.input) + tile.first;
}

template <class T>
__device__ Quad<T> load_quad(const T* elements) {
  return std::bit_cast<Quad<T>>(*reinterpret_cast<const Packed<T, quad_elements>*>(elements));
}

/// Loads the lane's elements from `place` on that exist, one by one; zeros for the others.
template <class T>
__device__ Quad<T> load_present(const T* elements, const Tile& tile, std::int32_t place) {
  Quad<T> quad{};
#pragma unroll
  for (int k = 0; k < quad_elements; ++k)
    if (k < tile.present(place)) quad.element[k] = elements[place + k];
  return quad;
}

template <class T>
__device__ void make_native(const BlockView& block, Quad<T>& quad) {
  if (block.format.order == native_byte_order) return;
#pragma unroll
  for (T& element : quad.element) element = byte_swapped(element);
}

/// Returns the lane's elements from `place` on, in native byte order, zero past the end of the
/// tile.
template <class T>
__device__ Quad<T> read_quad(const BlockView& block, const Tile& tile, std::int32_t place) {
  const T* elements = input_of<T>(block, tile);
  const bool whole = tile.present(place) >= quad_elements && block.input_in_vectors();
  Quad<T> quad = whole ? load_quad(elements + place) : load_present(elements, tile, place);
  make_native(block, quad);
  return quad;
}

/// Stores those of the lane's output elements that exist.
template <class Out>
__device__ void write_elements(const BlockView& block, const Tile& tile, std::int32_t place,
                               const Quad<Out>& elements) {
  Out* to = reinterpret_cast<Out*>(block.output) + tile.first + static_cast<std::uint32_t>(place);
  const std::int32_t present = tile.present(place);
  if (present >= quad_elements && block.output_in_vectors()) {
    *reinterpret_cast<Packed<Out, quad_elements>*>(to) =
        std::bit_cast<Packed<Out, quad_elements>>(elements);
  } else {
#pragma unroll
    for (int k = 0; k < quad_elements; ++k)
      if (k < present) to[k] = elements.element[k];
  }
}

}  // namespace warpfold::cuda::kernels
