#pragma once

#include <bit>
#include <cstdint>

#include "core/values/byte_order.hpp"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/reduce/reduce_block.cuh"

namespace warpfold::cuda::kernels {

/// 16 bytes of elements, loaded at once and kept packed.
template <class T>
struct Vector {
  static constexpr int size = 16 / sizeof(T);

  struct Elements {
    T element[static_cast<std::size_t>(size)];
  };
  struct Words {
    std::uint32_t word[4];
  };

  uint4 packed;

  __device__ Elements elements() const { return std::bit_cast<Elements>(packed); }
  __device__ Words words() const { return std::bit_cast<Words>(packed); }

  /// One element among zeros.
  __device__ static Vector of(T element) {
    const auto bits = static_cast<std::uint64_t>(std::bit_cast<Word<T>>(element));
    return {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), 0, 0}};
  }

  __device__ void keep(std::uint32_t mask) {
    packed.x &= kept_bits(mask, 0);
    packed.y &= kept_bits(mask, 1);
    packed.z &= kept_bits(mask, 2);
    packed.w &= kept_bits(mask, 3);
  }

  /// Element k, known only at run time.
  __device__ T at(unsigned k) const {
    constexpr unsigned word_bits = 32;
    const unsigned bit = k * 8 * static_cast<unsigned>(sizeof(T));
    const unsigned word = bit / word_bits;
    const std::uint32_t low = word == 0   ? packed.x
                              : word == 1 ? packed.y
                              : word == 2 ? packed.z
                                          : packed.w;
    if constexpr (sizeof(T) == 8) {
      const std::uint32_t high = word == 0 ? packed.y : packed.w;
      return std::bit_cast<T>(static_cast<std::uint64_t>(high) << word_bits | low);
    } else {
      return std::bit_cast<T>(static_cast<Word<T>>(low >> (bit % word_bits)));
    }
  }

 private:
  __device__ static std::uint32_t kept_bits(std::uint32_t mask, unsigned word) {
    const auto all_if = [mask](unsigned k) { return 0u - (mask >> k & 1); };
    if constexpr (sizeof(T) == 8) return all_if(word / 2);
    if constexpr (sizeof(T) == 4) return all_if(word);
    return (all_if(2 * word) & 0xffffu) | (all_if(2 * word + 1) << 16);
  }
};

/// Elements that one thread takes at a time: vectors whose loads are under way together, all zero
/// bits beyond the array's end.
template <class T>
struct ThreadTile {
  static constexpr unsigned vectors = is_floating_element<T> && sizeof(T) == 2 ? 2 : 4;
  static constexpr unsigned size = vectors * Vector<T>::size;

  Vector<T> vector[vectors];
  std::uint32_t place;    ///< place of the first element
  std::uint32_t present;  ///< vectors that are of the array

  struct Elements {
    typename Vector<T>::Elements of_vector[vectors];

    __device__ T& operator[](unsigned i) {
      return of_vector[i / Vector<T>::size].element[i % Vector<T>::size];
    }
    __device__ const T& operator[](unsigned i) const {
      return of_vector[i / Vector<T>::size].element[i % Vector<T>::size];
    }
  };

  /// To be indexed by constants once loops are unrolled: they live in registers.
  __device__ Elements elements() const {
    Elements all;
#pragma unroll
    for (unsigned j = 0; j < vectors; ++j) all.of_vector[j] = vector[j].elements();
    return all;
  }

  __device__ void set(const Elements& all) {
#pragma unroll
    for (unsigned j = 0; j < vectors; ++j)
      vector[j].packed = std::bit_cast<uint4>(all.of_vector[j]);
  }

  /// Makes the elements zero whose bits in `mask` are not set.
  __device__ void keep(std::uint32_t mask) {
    static_assert(size <= 32);
#pragma unroll
    for (unsigned j = 0; j < vectors; ++j) vector[j].keep(mask >> (j * Vector<T>::size));
  }

  /// Vector j, known only at run time, chosen among registers.
  __device__ Vector<T> chosen(unsigned j) const {
    static_assert(vectors == 2 || vectors == 4);
    const uint4 first = vector[0].packed;
    const uint4 second = vector[1].packed;
    const uint4 third = vector[vectors - 2].packed;
    const uint4 fourth = vector[vectors - 1].packed;
    const auto word = [j](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
      return j < 2 ? (j == 0 ? a : b) : (j == 2 ? c : d);
    };
    return {make_uint4(
        word(first.x, second.x, third.x, fourth.x), word(first.y, second.y, third.y, fourth.y),
        word(first.z, second.z, third.z, fourth.z), word(first.w, second.w, third.w, fourth.w))};
  }

  /// Element i, known only at run time.
  __device__ T at(unsigned i) const { return chosen(i / Vector<T>::size).at(i % Vector<T>::size); }

  /// visit(element, i) for each: the fewer vectors at a time, the slower, with fewer registers.
  template <int Unrolled = 1, class Visitor>
  __device__ void visit(Visitor&& visitor) const {
#pragma unroll Unrolled
    for (unsigned j = 0; j < vectors; ++j) {
      const auto elements = chosen(j).elements();
#pragma unroll
      for (unsigned k = 0; k < Vector<T>::size; ++k)
        visitor(elements.element[k], j * Vector<T>::size + k);
    }
  }

  __device__ void swap_bytes() {
#pragma unroll
    for (unsigned j = 0; j < vectors; ++j) vector[j].packed = swapped_elements<T>(vector[j].packed);
  }
};

/// The extremes of a tile's magnitudes of 16 bits, zeros left out, in each half of the words. Keys
/// are a magnitude with the sign bit set, less one: a zero's is the greatest signed number and less
/// than all others as an unsigned one.
struct PairKeys {
  std::uint32_t maximum = 0;
  std::uint32_t minimum = 0x7fff7fffu;
};

template <class T>
__device__ PairKeys pair_keys(const ThreadTile<T>& tile) {
  static_assert(sizeof(T) == 2);
  PairKeys range;
#pragma unroll
  for (unsigned j = 0; j < ThreadTile<T>::vectors; ++j) {
    const auto words = tile.vector[j].words();
#pragma unroll
    for (const std::uint32_t word : words.word) {
      const std::uint32_t keys = (word | 0x80008000u) - 0x00010001u;
      range.maximum = __vmaxu2(range.maximum, keys);
      range.minimum = __vmins2(range.minimum, keys);
    }
  }
  return range;
}

/// Division of the vectors: a block takes tiles of consecutive ones, each thread every
/// reduce_threads-th of those, tile after tile in ascending order. The elements before and behind
/// the vectors come last, one a thread: the first warp of the first block has those before, the
/// second those behind.
///
/// A thread's place is the number of one of its elements, in ascending order of their indices.
template <class T>
class ThreadShare {
 public:
  static constexpr std::uint32_t head_place = 0;
  static constexpr std::uint32_t first_place = 1;
  static constexpr std::uint32_t tail_place = 0xfffffffeu;
  static constexpr unsigned tile_vectors = ThreadTile<T>::vectors * reduce_threads;

  __device__ explicit ThreadShare(const ReduceShare& share)
      : share_(share),
        first_(static_cast<std::uint64_t>(blockIdx.x) * tile_vectors + threadIdx.x) {}

  __device__ const ReduceShare& whole() const { return share_; }

  /// Starts the loads of the thread's next tile, unless its warp has no more.
  __device__ void load(ThreadTile<T>& tile) {
    if (first_ - static_cast<unsigned>(warp::lane()) < share_.vectors) {
      ++tiles_;
      load_vectors(tile);
      first_ += share_.stride;
    } else if (tiles_ != edge_tile && has_edge()) {
      load_edge(tile);
      tiles_ = edge_tile;
    } else {
      tiles_ = no_tile;
    }
  }

  /// Returns whether load() loaded a tile.
  __device__ bool has_tile() const { return tiles_ != no_tile; }

  /// Says where the tile loaded last lies.
  __device__ void locate(ThreadTile<T>& tile) const {
    tile.present = ThreadTile<T>::vectors;
    tile.place = (tiles_ - 1) * ThreadTile<T>::size + first_place;
    if (!at_end()) return;
    tile.present = 0;
    if (tiles_ == edge_tile) {
      const std::uint32_t place = warp::index() == 0 ? head_place : tail_place;
      tile.place = static_cast<unsigned>(warp::lane()) < edge_elements() ? place : no_offset;
      return;
    }
    const std::uint64_t first = first_ - share_.stride;
    tile.place = (tiles_ % partial_tile - 1) * ThreadTile<T>::size + first_place;
#pragma unroll
    for (unsigned j = 0; j < ThreadTile<T>::vectors; ++j)
      tile.present += first + j * reduce_threads < share_.vectors ? 1 : 0;
    if (tile.present == 0) tile.place = no_offset;
  }

  /// Returns whether it loaded what the array ends with, or no tile.
  __device__ bool at_end() const { return tiles_ >= partial_tile; }

  /// Tells whether `period` tiles, a power of two, were loaded since it last was true; or all were.
  __device__ bool is_due(std::uint32_t period) const { return tiles_ % period == 0; }

  /// Returns the flat index of the element at `place`.
  __device__ std::uint64_t index(std::uint32_t place) const {
    if (place == head_place || place == tail_place)
      return (place == head_place ? share_.first_index : share_.tail_index) +
             static_cast<unsigned>(warp::lane());
    const std::uint32_t ordinal = (place - first_place) / Vector<T>::size;
    const std::uint64_t tile =
        static_cast<std::uint64_t>(ordinal / ThreadTile<T>::vectors) * gridDim.x + blockIdx.x;
    const std::uint64_t vector =
        tile * tile_vectors + ordinal % ThreadTile<T>::vectors * reduce_threads + threadIdx.x;
    return share_.first_index + share_.head + vector * Vector<T>::size +
           (place - first_place) % Vector<T>::size;
  }

 private:
  // Multiples of all periods.
  static constexpr std::uint32_t partial_tile = 0x80000000u;  ///< plus its number
  static constexpr std::uint32_t edge_tile = 0xffff0000u;
  static constexpr std::uint32_t no_tile = 0xfffe0000u;

  __device__ std::uint32_t edge_elements() const {
    return warp::index() == 0 ? share_.head : warp::index() == 1 ? share_.tail : 0;
  }

  __device__ bool has_edge() const { return blockIdx.x == 0 && edge_elements() != 0; }

  __device__ void load_vectors(ThreadTile<T>& tile) {
    const uint4* const vectors = share_.vector + first_;
    if (first_ + (ThreadTile<T>::vectors - 1) * reduce_threads < share_.vectors) {
#pragma unroll
      for (unsigned j = 0; j < ThreadTile<T>::vectors; ++j)
        tile.vector[j].packed = __ldcs(vectors + j * reduce_threads);
      return;
    }
    tiles_ |= partial_tile;
#pragma unroll
    for (unsigned j = 0; j < ThreadTile<T>::vectors; ++j) {
      tile.vector[j].packed = make_uint4(0, 0, 0, 0);
      if (first_ + j * reduce_threads < share_.vectors)
        tile.vector[j].packed = __ldcs(vectors + j * reduce_threads);
    }
  }

  __device__ void load_edge(ThreadTile<T>& tile) const {
#pragma unroll
    for (unsigned j = 0; j < ThreadTile<T>::vectors; ++j)
      tile.vector[j].packed = make_uint4(0, 0, 0, 0);
    const auto* elements = reinterpret_cast<const T*>(share_.elements);
    const auto lane = static_cast<unsigned>(warp::lane());
    if (lane >= edge_elements()) return;
    if (warp::index() != 0) elements += share_.count - share_.tail;
    tile.vector[0] = Vector<T>::of(elements[lane]);
  }

  const ReduceShare& share_;
  std::uint64_t first_;      ///< vector of the next tile
  std::uint32_t tiles_ = 0;  ///< whose loads were started, or which no others follow
};

/// Window functions of sums that take any element: they do nothing.
template <class T>
struct SumsWithoutWindow {
  struct Shared {};
  static constexpr bool has_windows = false;

  __device__ void open(const ThreadTile<T>&, bool) { __syncthreads(); }
  __device__ static constexpr bool too_narrow() { return false; }
  __device__ void sum_far(bool) {}
};

}  // namespace warpfold::cuda::kernels
