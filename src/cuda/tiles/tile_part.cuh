#pragma once

#include <bit>
#include <cstdint>

#include "core/scan/scan_arithmetic.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/tile.cuh"

/// Tiles cut into parts of consecutive elements, a thread's own, though memory is read and written
/// in vectors that are consecutive in the warp.
namespace warpfold::cuda::kernels {

inline constexpr int part_threads = 256;
inline constexpr int part_warps = part_threads / warp::lanes;
inline constexpr int part_elements = scan_order::tile_elements / part_threads;

template <class Elements>
inline constexpr int vectors_of = static_cast<int>(sizeof(Elements) / sizeof(uint4));

/// Vectors of a warp, on their way between the order of memory and that of lanes.
template <int Vectors>
struct WarpVectors {
  uint4 vector[Vectors * warp::lanes];

  /// Neither reads nor writes of eight lanes share banks.
  __device__ uint4& at(int i) { return vector[i ^ ((i >> 3) & 7)]; }
};

/// Room for a warp's parts of the widest type.
using PartStorage = WarpVectors<vectors_of<TileElements<double, part_elements>>>;

/// The place in its tile of this thread's first element.
__device__ inline std::int32_t first_of_part() {
  return static_cast<std::int32_t>(threadIdx.x) * part_elements;
}

/// This thread's elements, zero past the end of the tile.
template <class T>
__device__ TileElements<T, part_elements> read_part(const BlockView& block, const Tile& tile,
                                                    PartStorage& storage) {
  using Elements = TileElements<T, part_elements>;
  constexpr int vectors = vectors_of<Elements>;
  struct Vectors {
    uint4 vector[vectors];
  };
  const T* from = reinterpret_cast<const T*>(block.input) + tile.first;
  Elements elements{};
  if (tile.full() && block.input_in_vectors()) {
    const auto* vector =
        reinterpret_cast<const uint4*>(from) + warp::index() * vectors * warp::lanes;
    Vectors own;
#pragma unroll
    for (int i = 0; i < vectors; ++i) own.vector[i] = vector[i * warp::lanes + warp::lane()];
#pragma unroll
    for (int i = 0; i < vectors; ++i) storage.at(i * warp::lanes + warp::lane()) = own.vector[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < vectors; ++i) own.vector[i] = storage.at(warp::lane() * vectors + i);
    elements = std::bit_cast<Elements>(own);
  } else {
#pragma unroll
    for (int k = 0; k < part_elements; ++k)
      if (first_of_part() + k < tile.count) elements.element[k] = from[first_of_part() + k];
  }
  if (block.format.order != native_byte_order) {
#pragma unroll
    for (T& element : elements.element) element = byte_swapped(element);
  }
  return elements;
}

/// Stores those of this thread's output elements that exist.
template <class Out>
__device__ void write_part(const BlockView& block, const Tile& tile,
                           const TileElements<Out, part_elements>& elements, PartStorage& storage) {
  using Elements = TileElements<Out, part_elements>;
  constexpr int vectors = vectors_of<Elements>;
  struct Vectors {
    uint4 vector[vectors];
  };
  Out* to = reinterpret_cast<Out*>(block.output) + tile.first;
  if (tile.full() && block.output_in_vectors()) {
    auto* vector = reinterpret_cast<uint4*>(to) + warp::index() * vectors * warp::lanes;
    const auto own = std::bit_cast<Vectors>(elements);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < vectors; ++i) storage.at(warp::lane() * vectors + i) = own.vector[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < vectors; ++i)
      vector[i * warp::lanes + warp::lane()] = storage.at(i * warp::lanes + warp::lane());
  } else {
#pragma unroll
    for (int k = 0; k < part_elements; ++k)
      if (first_of_part() + k < tile.count) to[first_of_part() + k] = elements.element[k];
  }
}

}  // namespace warpfold::cuda::kernels
