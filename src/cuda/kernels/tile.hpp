#pragma once

#include <bit>
#include <cstdint>

#include "core/byte_order.hpp"
#include "core/scan_arithmetic.hpp"
#include "cuda/kernels/block_view.hpp"
#include "cuda/kernels/warp.hpp"

namespace warpfold::cuda::kernels {

static_assert(scan_order::tile_lanes == warp::lanes);

/// What one lane has of a row.
template <class T>
struct Quad {
  T element[scan_order::lane_elements];
};

template <std::size_t Bytes>
struct PackedBytes;
template <>
struct PackedBytes<4> {
  using type = std::uint32_t;
};
template <>
struct PackedBytes<8> {
  using type = uint2;
};
template <>
struct PackedBytes<16> {
  using type = uint4;
};
struct alignas(16) TwoVectors {
  uint4 half[2];
};
template <>
struct PackedBytes<32> {
  using type = TwoVectors;
};

template <class T>
using Packed = typename PackedBytes<sizeof(Quad<T>)>::type;

/// Aligned to the lesser of 16 bytes and the quad's size.
template <class T>
__device__ Quad<T> load_quad(const T* elements) {
  return std::bit_cast<Quad<T>>(*reinterpret_cast<const Packed<T>*>(elements));
}

template <class T>
__device__ void store_quad(T* elements, const Quad<T>& quad) {
  *reinterpret_cast<Packed<T>*>(elements) = std::bit_cast<Packed<T>>(quad);
}

/// The place in its tile of the first of this lane's elements in a row of its warp's segment.
__device__ inline std::int32_t place_in_tile(int row) {
  return (warp::index() * scan_order::tile_rows + row) * scan_order::row_elements +
         warp::lane() * scan_order::lane_elements;
}

/// This thread block's tile.
struct Tile {
  std::uint64_t first;  ///< its place in the block of elements
  std::int32_t count;   ///< fewer than tile_elements in the last tile only

  __device__ explicit Tile(const BlockView& block)
      : first(static_cast<std::uint64_t>(blockIdx.x) * scan_order::tile_elements) {
    const std::uint64_t rest = block.elements - first;
    count = static_cast<std::int32_t>(rest < scan_order::tile_elements ? rest
                                                                       : scan_order::tile_elements);
  }

  /// How many of the lane's elements from `place` on exist; may be negative or above four.
  __device__ std::int32_t present(std::int32_t place) const { return count - place; }
};

/// The lane's elements from `place` on, in native byte order, zero past the end of the tile.
template <class T>
__device__ Quad<T> read_quad(const BlockView& block, const Tile& tile, std::int32_t place) {
  const T* elements =
      reinterpret_cast<const T*>(block.input) + tile.first + static_cast<std::uint32_t>(place);
  const std::int32_t present = tile.present(place);
  Quad<T> quad{};
  if (present >= scan_order::lane_elements) {
    quad = load_quad(elements);
  } else {
#pragma unroll
    for (int k = 0; k < scan_order::lane_elements; ++k)
      if (k < present) quad.element[k] = elements[k];
  }
  if (block.format.order != native_byte_order) {
#pragma unroll
    for (T& element : quad.element) element = byte_swapped(element);
  }
  return quad;
}

/// Stores those of the lane's output elements that exist.
template <class Out>
__device__ void write_quad(const BlockView& block, const Tile& tile, std::int32_t place,
                           const Quad<Out>& quad) {
  Out* elements =
      reinterpret_cast<Out*>(block.output) + tile.first + static_cast<std::uint32_t>(place);
  const std::int32_t present = tile.present(place);
  if (present >= scan_order::lane_elements) {
    store_quad(elements, quad);
  } else {
#pragma unroll
    for (int k = 0; k < scan_order::lane_elements; ++k)
      if (k < present) elements[k] = quad.element[k];
  }
}

}  // namespace warpfold::cuda::kernels
