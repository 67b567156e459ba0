#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/relaxed.cuh"
#include "cuda/primitives/warp.cuh"

/// Look-back of a one-pass scan: blocks find their tiles' prefixes. All blocks of the grid are
/// resident, and block b takes the tiles b, b + G, b + 2G, ... of a grid of G: one each round. It
/// publishes each tile's aggregate ahead of the scan, and knows what precedes a tile by what
/// preceded its last one and the G aggregates since, combined in a fixed order. So there is no
/// chain from tile to tile, as in the decoupled lookback of Merrill and Garland (2016).
namespace warpfold::cuda::kernels {

/// The rounds of which a ring keeps aggregates. A block that publishes s rounds ahead of its own
/// lookback overwrites nothing that another may still read as long as 2 s + 2 <= this.
inline constexpr std::uint32_t lookback_rounds = 32;

/// Returns how many epochs a scan of so many rounds takes.
constexpr std::uint32_t lookback_epochs(std::uint64_t rounds) {
  return static_cast<std::uint32_t>((rounds + lookback_rounds - 1) / lookback_rounds);
}

/// A published value of 4 or 8 bytes: words of 64 bits, of which each holds the epoch in its upper
/// half, so that it is seen to be valid by itself.
template <class T>
struct alignas(2 * sizeof(T)) PublishedAggregate {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

  std::uint64_t words[sizeof(T) / sizeof(std::uint32_t)];

  __device__ static PublishedAggregate of(T value, std::uint32_t epoch) {
    const std::uint64_t tag = std::uint64_t{epoch} << 32;
    if constexpr (sizeof(T) == 4) {
      return {{tag | std::bit_cast<std::uint32_t>(value)}};
    } else {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      return {{tag | static_cast<std::uint32_t>(bits), tag | bits >> 32}};
    }
  }

  __device__ bool is_of(std::uint32_t epoch) const {
    if constexpr (sizeof(T) == 4)
      return words[0] >> 32 == epoch;
    else
      return words[0] >> 32 == epoch && words[1] >> 32 == epoch;
  }

  __device__ T value() const {
    const auto low = static_cast<std::uint32_t>(words[0]);
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<T>(low);
    else
      return std::bit_cast<T>(words[1] << 32 | low);
  }
};

template <class T>
__device__ void store_relaxed(PublishedAggregate<T>* slot, const PublishedAggregate<T>& aggregate) {
  if constexpr (sizeof(T) == 4)
    cuda::store_relaxed(slot->words, aggregate.words[0]);
  else
    cuda::store_relaxed(reinterpret_cast<ulonglong2*>(slot), std::bit_cast<ulonglong2>(aggregate));
}

template <class T>
__device__ PublishedAggregate<T> load_relaxed(const PublishedAggregate<T>* slot) {
  if constexpr (sizeof(T) == 4)
    return {{cuda::load_relaxed(slot->words)}};
  else
    return std::bit_cast<PublishedAggregate<T>>(
        cuda::load_relaxed(reinterpret_cast<const ulonglong2*>(slot)));
}

/// The aggregates of the last rounds, in device memory that was zero before the first epoch, 1.
/// Each round of a launch has its epoch and slot; the next launch begins with a later epoch.
template <class T>
struct AggregateRing {
  PublishedAggregate<T>* slots;  // lookback_rounds * blocks
  std::uint32_t blocks;
  std::uint32_t first_epoch;

  static constexpr std::uint64_t bytes(std::uint32_t blocks) {
    return std::uint64_t{lookback_rounds} * blocks * sizeof(PublishedAggregate<T>);
  }

  __device__ std::uint32_t epoch(std::uint32_t round) const {
    return first_epoch + round / lookback_rounds;
  }
  __device__ PublishedAggregate<T>* slot(std::uint32_t round, std::uint32_t block) const {
    return slots + (round % lookback_rounds * blocks + block);
  }

  /// Publishes a block's aggregate. Called by one thread.
  __device__ void publish(std::uint32_t round, std::uint32_t block, T aggregate) const {
    store_relaxed(slot(round, block), PublishedAggregate<T>::of(aggregate, epoch(round)));
  }

  /// In lane 0: the aggregates of the tiles between `block`'s tile of the round before, included,
  /// and its tile of this round, combined in their order; waits until they are published. In round
  /// 0 those of the blocks below. By a whole warp. Total may be a wider type than T.
  template <class Total, class Combine>
  __device__ Total combine_since_last_round(std::uint32_t round, std::uint32_t block,
                                            Total identity, Combine combine) const {
    constexpr int rows = 5;
    const std::uint32_t tiles = round == 0 ? block : blocks;
    Total total = identity;
    for (std::uint32_t first = 0; first < tiles; first += rows * warp::lanes)
      total = combine(total, combine_rows<rows>(round, block, first, tiles, identity, combine));
    return total;
  }

 private:
  template <int rows, class Total, class Combine>
  __device__ Total combine_rows(std::uint32_t round, std::uint32_t block, std::uint32_t first,
                                std::uint32_t tiles, Total identity, Combine combine) const {
    PublishedAggregate<T> aggregates[rows];
    const PublishedAggregate<T>* sources[rows];
    std::uint32_t epochs[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::uint32_t index =
          first + static_cast<std::uint32_t>(row * warp::lanes + warp::lane());
      const bool wrapped = round == 0 || block + index >= blocks;
      const std::uint32_t source_round = wrapped ? round : round - 1;
      const std::uint32_t source_block =
          round == 0 ? index : block + index - (wrapped ? blocks : 0);
      sources[row] = index < tiles ? slot(source_round, source_block) : nullptr;
      epochs[row] = epoch(source_round);
      aggregates[row] = index < tiles
                            ? load_relaxed(sources[row])
                            : PublishedAggregate<T>::of(static_cast<T>(identity), epochs[row]);
    }
    Total total = identity;
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      while (!aggregates[row].is_of(epochs[row])) aggregates[row] = load_relaxed(sources[row]);
      total = combine(total, warp::reduce(static_cast<Total>(aggregates[row].value()), combine));
    }
    return total;
  }
};

}  // namespace warpfold::cuda::kernels
