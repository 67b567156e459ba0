#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

/// Collective operations of a warp's 32 lanes. All lanes of the warp call the functions at once,
/// except for the last ones; blocks are one-dimensional, whole warps.
namespace warpfold::cuda::warp {

inline constexpr int lanes = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

__device__ inline int lane() { return static_cast<int>(threadIdx.x) % lanes; }

/// Returns the number of the warp in its block.
__device__ inline int index() { return static_cast<int>(threadIdx.x) / lanes; }

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};

struct Maximum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

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

/// Returns the value of lane `source`.
template <class T>
__device__ T shuffle(const T& value, int source) {
  return shuffle_words(
      value, [source](std::uint32_t word) { return __shfl_sync(all_lanes, word, source); });
}

/// Returns the value of the lane `delta` below; the own one where there is none.
template <class T>
__device__ T shuffle_up(const T& value, int delta) {
  return shuffle_words(value, [delta](std::uint32_t word) {
    return __shfl_up_sync(all_lanes, word, static_cast<unsigned>(delta));
  });
}

/// Returns the value of the lane `delta` above; the own one where there is none.
template <class T>
__device__ T shuffle_down(const T& value, int delta) {
  return shuffle_words(value, [delta](std::uint32_t word) {
    return __shfl_down_sync(all_lanes, word, static_cast<unsigned>(delta));
  });
}

/// Returns the value of the lane whose number differs in the bits of `bits`.
template <class T>
__device__ T shuffle_xor(const T& value, int bits) {
  return shuffle_words(
      value, [bits](std::uint32_t word) { return __shfl_xor_sync(all_lanes, word, bits); });
}

/// In lane 0: combine(...combine(value of lane 0, value of lane 1)..., value of lane 31). `combine`
/// is associative and need not commute. Other lanes get parts of it.
template <class T, class Combine>
__device__ T reduce(T value, Combine combine) {
#pragma unroll
  for (int delta = 1; delta < lanes; delta *= 2) value = combine(value, shuffle_down(value, delta));
  return value;
}

/// Reduces as reduce() does, in every lane: a butterfly.
template <class T, class Combine>
__device__ T reduce_xor(T value, Combine combine) {
#pragma unroll
  for (int bit = 1; bit < lanes; bit *= 2) {
    const T other = shuffle_xor(value, bit);
    value = (lane() & bit) == 0 ? combine(value, other) : combine(other, value);
  }
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

/// Returns the greatest value of all lanes.
__device__ inline std::uint32_t maximum(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_max_sync(all_lanes, value);
#else
  return reduce_xor(value, Maximum{});
#endif
}

/// Returns the sum of all lanes' values, of which none is 2^53 or more, nor negative.
__device__ inline std::uint64_t sum(std::uint64_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int part = 26;
  const std::uint32_t low = static_cast<std::uint32_t>(value) & ((1u << part) - 1);
  const std::uint32_t high = static_cast<std::uint32_t>(value >> part);
  return (std::uint64_t{__reduce_add_sync(all_lanes, high)} << part) +
         __reduce_add_sync(all_lanes, low);
#else
  return reduce_xor(value, Plus{});
#endif
}

/// Returns the bits that any lane's value has.
__device__ inline std::uint32_t combined_bits(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_or_sync(all_lanes, value);
#else
  return reduce_xor(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

/// In lane i: a part of the sum of all lanes' value[i % Size], where Size is the least power of two
/// of Count or more, and value[i] is 0 from Count on. Each lane leaves half of the values to the
/// lane whose number differs in a bit, and so on.
template <int Count>
__device__ std::int64_t reduce_scatter(const std::int64_t (&value)[Count]) {
  if constexpr (Count == 1) {
    return value[0];
  } else {
    constexpr int half = static_cast<int>(std::bit_ceil(static_cast<unsigned>(Count)) / 2);
    // Exchanged by bits: of a choice of two the compiler makes addresses in local memory.
    const std::int64_t upper = (lane() & half) != 0 ? -1 : 0;
    std::int64_t kept[half];
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const std::int64_t other = i + half < Count ? value[(i + half) % Count] : 0;
      const std::int64_t exchanged = (value[i] ^ other) & upper;
      kept[i] = (value[i] ^ exchanged) + shuffle_xor(other ^ exchanged, half);
    }
    return reduce_scatter(kept);
  }
}

/// Sets bit i where lane i says so.
__device__ inline unsigned ballot(bool says) { return __ballot_sync(all_lanes, says); }

__device__ inline bool any(bool says) { return __any_sync(all_lanes, says) != 0; }

__device__ inline bool all(bool says) { return __all_sync(all_lanes, says) != 0; }

/// Returns the lanes with the same value: integers or floats, of 4 or 8 bytes, bit by bit.
template <class T>
__device__ unsigned match_any(T value) {
  return __match_any_sync(all_lanes, value);
}

// Operations that some lanes of a warp may call alone: they concern the lanes that come together.

/// Makes the lanes of `mask`, of which the caller is one, wait for one another and see what the
/// others wrote.
__device__ inline void synchronize(unsigned mask = all_lanes) { __syncwarp(mask); }

/// Returns how many lanes of `mask` are below the own one.
__device__ inline unsigned rank_among(unsigned mask) {
  return static_cast<unsigned>(__popc(mask & ((1u << lane()) - 1)));
}

}  // namespace warpfold::cuda::warp
