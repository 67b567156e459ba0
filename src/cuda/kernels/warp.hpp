#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

/// What the 32 lanes of a warp do together. Every function is to be called by all lanes of the warp
/// at once; blocks are one-dimensional, whole warps.
namespace warpfold::cuda::warp {

inline constexpr int lanes = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

__device__ inline int lane() { return static_cast<int>(threadIdx.x) % lanes; }

/// The number of the warp in its block.
__device__ inline int index() { return static_cast<int>(threadIdx.x) / lanes; }

/// Passes each 32-bit word of `value` through `shuffle_word`.
template <class T, class ShuffleWord>
__device__ T shuffle_words(const T& value, ShuffleWord shuffle_word) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  struct Words {
    std::uint32_t word[sizeof(T) / sizeof(std::uint32_t)];
  };
  auto words = std::bit_cast<Words>(value);
#pragma unroll
  for (std::uint32_t& word : words.word) word = shuffle_word(word);
  return std::bit_cast<T>(words);
}

/// The value of lane `source`.
template <class T>
__device__ T shuffle(const T& value, int source) {
  return shuffle_words(
      value, [source](std::uint32_t word) { return __shfl_sync(all_lanes, word, source); });
}

/// The value of the lane `delta` below; the own one where there is none.
template <class T>
__device__ T shuffle_up(const T& value, int delta) {
  return shuffle_words(value, [delta](std::uint32_t word) {
    return __shfl_up_sync(all_lanes, word, static_cast<unsigned>(delta));
  });
}

/// The value of the lane `delta` above; the own one where there is none.
template <class T>
__device__ T shuffle_down(const T& value, int delta) {
  return shuffle_words(value, [delta](std::uint32_t word) {
    return __shfl_down_sync(all_lanes, word, static_cast<unsigned>(delta));
  });
}

/// In lane 0: combine(...combine(value of lane 0, value of lane 1)..., value of lane 31). `combine`
/// is associative and need not commute. Other lanes get parts of it.
template <class T, class Combine>
__device__ T reduce(T value, Combine combine) {
#pragma unroll
  for (int delta = 1; delta < lanes; delta *= 2) value = combine(value, shuffle_down(value, delta));
  return value;
}

/// In lane i: the values of lanes 0 to i combined, as Kogge and Stone do: for delta = 1, 2, 4, 8,
/// 16 each lane >= delta takes combine(value of the lane delta below, own value).
template <class T, class Combine>
__device__ T inclusive_scan(T value, Combine combine) {
#pragma unroll
  for (int delta = 1; delta < lanes; delta *= 2) {
    const T below = shuffle_up(value, delta);
    if (lane() >= delta) value = combine(below, value);
  }
  return value;
}

}  // namespace warpfold::cuda::warp
