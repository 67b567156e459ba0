#pragma once

#include <bit>
#include <cstdint>

#include "cuda/reduce/reduce_float_words.cuh"

namespace warpfold::cuda::kernels {

/// Which elements of a tile are what; bit i stands for element i.
struct NonFiniteMasks {
  std::uint32_t nan = 0;
  std::uint32_t positive_infinity = 0;
  std::uint32_t negative_infinity = 0;
};

/// Bits of the positive infinity of type T.
template <class T>
inline constexpr auto infinity_bits = static_cast<Word<T>>(
    ((std::uint64_t{1} << PlacedFloat<T>::exponent_bits) - 1) << (significand_bits<T> - 1));

template <class T>
__device__ NonFiniteMasks non_finite(const ThreadTile<T>& tile) {
  NonFiniteMasks masks;
  tile.visit([&](T element, unsigned i) {
    const auto bits = std::bit_cast<Word<T>>(element);
    const auto magnitude = static_cast<Word<T>>(bits & (static_cast<Word<T>>(-1) >> 1));
    const std::uint32_t bit = 1u << i;
    if (magnitude > infinity_bits<T>)
      masks.nan |= bit;
    else if (magnitude == infinity_bits<T>)
      (magnitude == bits ? masks.positive_infinity : masks.negative_infinity) |= bit;
  });
  return masks;
}

/// Counts elements that are not finite, by each thread for its own tile. Returns their mask.
template <class T>
__device__ std::uint32_t count_non_finite(const ThreadTile<T>& tile, const ThreadShare<T>& share,
                                          BlockTotals& block) {
  const NonFiniteMasks masks = non_finite(tile);
  if (masks.nan != 0) {
    atomicAdd(&block.nan_count, static_cast<unsigned>(__popc(masks.nan)));
    const auto first = static_cast<unsigned>(__ffs(static_cast<int>(masks.nan))) - 1;
    block.note_nan(share.index(tile.place + first));
  }
  if (masks.positive_infinity != 0)
    atomicAdd(&block.positive_infinities, static_cast<unsigned>(__popc(masks.positive_infinity)));
  if (masks.negative_infinity != 0)
    atomicAdd(&block.negative_infinities, static_cast<unsigned>(__popc(masks.negative_infinity)));
  return masks.nan | masks.positive_infinity | masks.negative_infinity;
}

/// Only that which every reduction counts.
template <class T>
class NonFiniteCounts : public SumsWithoutWindow<T> {
 public:
  static constexpr std::uint32_t settle_tiles = std::uint32_t{1} << 16;

  __device__ NonFiniteCounts(BlockTotals& block, SumsWithoutWindow<T>::Shared&) : block_(block) {}

  __device__ void add(const ThreadTile<T>& tile, const ThreadShare<T>& share) {
    bool finite = true;
    for_words(tile, [&](const FloatWords<T>& x, unsigned) { finite &= x.is_finite(); });
    if (!finite) count_non_finite(tile, share, block_);
  }

  __device__ void settle(const ThreadShare<T>&) {}
  __device__ void flush() { __syncthreads(); }

 private:
  BlockTotals& block_;
};

}  // namespace warpfold::cuda::kernels
