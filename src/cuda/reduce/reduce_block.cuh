#pragma once

#include <cstdint>

#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/reduce/reduce.hpp"

namespace warpfold::cuda::kernels {

/// Adds digits to limbs that other threads add to at the same time.
class AtomicLimbs {
 public:
  __device__ explicit AtomicLimbs(std::int64_t* limbs) : limbs_(limbs) {}

  __device__ void operator()(int index, std::int64_t addend) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(limbs_ + index),
              static_cast<unsigned long long>(addend));
  }

 private:
  std::int64_t* limbs_;
};

inline constexpr int reduce_warps = reduce_threads / warp::lanes;

/// The most elements a block reduces in one launch. Each adds twice at most to a limb of the block,
/// less than 1.5 * 2^32 each time, and what threads settle and flush adds far less often: a limb
/// stays below 2^62.
inline constexpr std::uint64_t max_block_elements = std::uint64_t{1} << 28;

/// One launch's part of a reduction, as its blocks see it: vectors of 16 bytes and what is left of
/// the array before and behind them.
struct ReduceShare {
  const std::byte* elements;
  const uint4* vector;  ///< the first
  std::uint64_t vectors;
  std::uint64_t stride;  ///< vectors that all blocks take at a time
  std::uint32_t head;    ///< elements before the first vector
  std::uint32_t tail;    ///< elements behind the last
  bool swapped_bytes;
  std::uint64_t first_index;
  std::uint64_t tail_index;  ///< index of the first element after the last vector
  std::uint64_t count;
  ReduceTotals* totals;
  BlockExtrema* block_extrema;
  PublishedReduce* published;
  std::uint64_t epoch;
  const BoxIndices* indices;
  const std::uint32_t* places;  ///< places of selected elements: first_place + places[i]
  std::uint64_t first_place;

  /// Blocks count places from first_index on; what leaves the launch are indices, which rise with
  /// them.
  __device__ std::uint64_t index_of(std::uint64_t place) const {
    if (places != nullptr) place = first_place + places[place];
    return indices == nullptr ? place : (*indices)(place);
  }
  __device__ Extremum indexed(Extremum extremum) const {
    if (extremum.seen()) extremum.index = index_of(extremum.index);
    return extremum;
  }
};

/// In shared memory: what the threads of a block add up to.
struct BlockTotals {
  ExactSum sum;
  ExactSum absolute;
  ExactSumOfSquares squares;
  unsigned long long first_nan;
  unsigned nan_count;
  unsigned positive_infinities;
  unsigned negative_infinities;
  bool last;
  BlockExtrema warp_extrema[reduce_warps];

  /// Clears the needed totals. Called by all threads.
  __device__ void clear(ReduceNeeds needs) {
    if (needs.sum) clear_limbs(sum);
    if (needs.absolute) clear_limbs(absolute);
    if (needs.squares) clear_limbs(squares);
    if (threadIdx.x == reduce_threads / 2) {
      first_nan = no_index;
      nan_count = 0;
      positive_infinities = 0;
      negative_infinities = 0;
    }
  }

  __device__ void note_nan(std::uint64_t index) {
    if (index < first_nan) atomicMin(&first_nan, static_cast<unsigned long long>(index));
  }

 private:
  template <class Number>
  __device__ static void clear_limbs(Number& number) {
    for (unsigned i = threadIdx.x; i < Number::limbs; i += reduce_threads) number.limb[i] = 0;
  }
};

/// Returns the better ones of all threads, in thread 0. By all threads of the block.
__device__ inline BlockExtrema best_of_block(BlockExtrema own, BlockExtrema* of_warps) {
  own.minimum = warp::reduce(own.minimum, BetterExtremum{});
  own.maximum = warp::reduce(own.maximum, BetterExtremum{});
  if (warp::lane() == 0) of_warps[warp::index()] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < reduce_warps; ++i) {
      own.minimum.merge(of_warps[i].minimum);
      own.maximum.merge(of_warps[i].maximum);
    }
  }
  return own;
}

/// Limb `i` after one step of carrying: where limbs are below 2^62, in (-2^31, 2^33).
template <class Number, class Read>
__device__ std::int64_t carried_limb(int i, Read read) {
  const std::int64_t limb = read(i);
  const std::int64_t digit = i < Number::limbs - 1 ? limb & 0xffffffff : limb;
  return i == 0 ? digit : digit + (read(i - 1) >> 32);
}

/// Adds a number in shared memory to one in device memory that all blocks add to.
template <class Number>
__device__ void add_to_device(Number& to, const Number& from) {
  const AtomicLimbs limbs(to.limb);
  for (int i = static_cast<int>(threadIdx.x); i < Number::limbs; i += reduce_threads) {
    const std::int64_t addend = carried_limb<Number>(i, [&](int k) { return from.limb[k]; });
    if (addend != 0) limbs(i, addend);
  }
}

/// Past the first cache, which does not see what other blocks did.
template <class Word>
__device__ Word read_shared_by_blocks(const Word& word) {
  static_assert(sizeof(Word) == sizeof(std::uint64_t));
  return static_cast<Word>(__ldcg(reinterpret_cast<const unsigned long long*>(&word)));
}

__device__ inline Extremum read_shared_by_blocks(const Extremum& extremum) {
  return {read_shared_by_blocks(extremum.key), read_shared_by_blocks(extremum.index),
          read_shared_by_blocks(extremum.bits)};
}

/// Thread i's limb of a number in device memory after one step of carrying.
template <class Number>
__device__ std::int64_t carried_device_limb(const Number& number) {
  static_assert(Number::limbs <= reduce_threads);
  const int i = static_cast<int>(threadIdx.x);
  if (i >= Number::limbs) return 0;
  return carried_limb<Number>(i, [&](int k) { return read_shared_by_blocks(number.limb[k]); });
}

template <class Number>
__device__ void store_limb(Number& number, std::int64_t limb) {
  if (threadIdx.x < Number::limbs) number.limb[threadIdx.x] = limb;
}

/// Final work of the last block, once all others have added to the totals.
template <ReduceNeeds needs>
class LastBlock {
 public:
  __device__ LastBlock(const ReduceShare& share, BlockTotals& block)
      : share_(share), totals_(share.totals->total), block_(block) {}

  /// Completes the totals. Called by all threads of the block.
  __device__ void complete() {
    const std::int64_t sum = needs.sum ? carried_device_limb(totals_.sum) : 0;
    const std::int64_t absolute = needs.absolute ? carried_device_limb(totals_.absolute) : 0;
    const std::int64_t squares = needs.squares ? carried_device_limb(totals_.squares) : 0;
    BlockExtrema extrema{Extremum::none(), Extremum::none()};
    if constexpr (needs.extrema) extrema = all_extrema();
    __syncthreads();
    store(share_.published == nullptr ? totals_ : share_.published->total, sum, absolute, squares);
    if (threadIdx.x == 0) store_rest(extrema);
    if (share_.published == nullptr) return;
    store(totals_, 0, 0, 0);
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence_system();
    *static_cast<volatile std::uint64_t*>(&share_.published->epoch) = share_.epoch;
  }

 private:
  /// In thread 0.
  __device__ BlockExtrema all_extrema() const {
    BlockExtrema best{Extremum::none(), Extremum::none()};
    for (unsigned i = threadIdx.x; i < gridDim.x; i += reduce_threads) {
      best.minimum.merge(read_shared_by_blocks(share_.block_extrema[i].minimum));
      best.maximum.merge(read_shared_by_blocks(share_.block_extrema[i].maximum));
    }
    best = best_of_block(best, block_.warp_extrema);
    if (threadIdx.x != 0) return best;
    best = {share_.indexed(best.minimum), share_.indexed(best.maximum)};
    best.minimum.merge(totals_.minimum);
    best.maximum.merge(totals_.maximum);
    return best;
  }

  __device__ static void store(Accumulator& to, std::int64_t sum, std::int64_t absolute,
                               std::int64_t squares) {
    if constexpr (needs.sum) store_limb(to.sum, sum);
    if constexpr (needs.absolute) store_limb(to.absolute, absolute);
    if constexpr (needs.squares) store_limb(to.squares, squares);
  }

  __device__ void store_rest(const BlockExtrema& extrema) const {
    const std::int64_t count = totals_.count + static_cast<std::int64_t>(share_.count);
    if (share_.published == nullptr) {
      totals_.count = count;
      if constexpr (needs.extrema) {
        totals_.minimum = extrema.minimum;
        totals_.maximum = extrema.maximum;
      }
      return;
    }
    Accumulator& to = share_.published->total;
    to.count = count;
    to.nan_count = read_shared_by_blocks(totals_.nan_count);
    to.positive_infinities = read_shared_by_blocks(totals_.positive_infinities);
    to.negative_infinities = read_shared_by_blocks(totals_.negative_infinities);
    to.first_nan = read_shared_by_blocks(totals_.first_nan);
    to.minimum = extrema.minimum;
    to.maximum = extrema.maximum;
    totals_.count = 0;
    totals_.nan_count = 0;
    totals_.positive_infinities = 0;
    totals_.negative_infinities = 0;
    totals_.first_nan = no_index;
    totals_.minimum = Extremum::none();
    totals_.maximum = Extremum::none();
  }

  const ReduceShare& share_;
  Accumulator& totals_;
  BlockTotals& block_;
};

__device__ inline void add_count(std::int64_t& to, unsigned count) {
  if (count != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(count));
}

/// Adds the block to the totals in device memory. By all threads; the last block to do so completes
/// them.
template <ReduceNeeds needs>
__device__ void finish_block(const ReduceShare& share, BlockTotals& block) {
  Accumulator& total = share.totals->total;
  if constexpr (needs.sum) add_to_device(total.sum, block.sum);
  if constexpr (needs.absolute) add_to_device(total.absolute, block.absolute);
  if constexpr (needs.squares) add_to_device(total.squares, block.squares);
  if (threadIdx.x == reduce_threads - 1) {
    add_count(total.nan_count, block.nan_count);
    add_count(total.positive_infinities, block.positive_infinities);
    add_count(total.negative_infinities, block.negative_infinities);
    if (block.first_nan != no_index)
      atomicMin(reinterpret_cast<unsigned long long*>(&total.first_nan),
                static_cast<unsigned long long>(share.index_of(block.first_nan)));
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    block.last = atomicInc(&share.totals->finished_blocks, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!block.last) return;
  __threadfence();
  LastBlock<needs>(share, block).complete();
}

}  // namespace warpfold::cuda::kernels
