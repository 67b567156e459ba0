#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/relaxed.cuh"
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

/// Adds value * 2^exponent to a number that other threads add to at the same time.
template <class Number>
__device__ void add_scaled(std::int64_t value, int exponent, Number& number) {
  const auto bits = static_cast<std::uint64_t>(value);
  Number::digits(ScaledInteger{value < 0 ? -bits : bits, exponent, value < 0},
                 AtomicLimbs(number.limb));
}

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
  ReduceNeeds needs;  ///< parts of the result to publish
  std::uint64_t first_index;
  std::uint64_t tail_index;  ///< index of the first element after the last vector
  std::uint64_t count;
  ReduceTotals* totals;
  BlockExtrema* block_extrema;
  PublishedReduce* published;
  std::uint32_t epoch;
  PublishedReduce* collected;  ///< totals of few blocks, for the last one; or null
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
__device__ inline std::uint64_t read_shared_by_blocks(const std::uint64_t& word) {
  return __ldcg(reinterpret_cast<const unsigned long long*>(&word));
}

__device__ inline Extremum read_shared_by_blocks(const Extremum& extremum) {
  return {read_shared_by_blocks(extremum.key), read_shared_by_blocks(extremum.index),
          read_shared_by_blocks(extremum.bits)};
}

/// Final work of a block: of the last one, once all others have added to the totals, or of each of
/// few blocks, the last of which collects what the others publish.
template <ReduceNeeds needs>
class BlockResult {
 public:
  __device__ BlockResult(const ReduceShare& share, BlockTotals& block)
      : share_(share),
        total_(reinterpret_cast<std::uint64_t*>(&share.totals->total)),
        block_(block),
        collects_(share.collected != nullptr && blockIdx.x == gridDim.x - 1),
        to_(share.collected == nullptr || collects_ ? share.published
                                                    : share.collected + blockIdx.x) {}

  /// Stores the result, in the totals or where it is published. Called by all threads of the block.
  __device__ void store() {
    const std::uint64_t count = completed_count();
    if constexpr (needs.sum) complete(block_.sum, place_of_sum, share_.needs.sum);
    if constexpr (needs.absolute)
      complete(block_.absolute, place_of_absolute, share_.needs.absolute);
    if constexpr (needs.squares) complete(block_.squares, place_of_squares, share_.needs.squares);
    BlockExtrema extrema{};
    if constexpr (needs.extrema)
      extrema = share_.collected == nullptr ? extrema_of_totals() : collected_extrema();
    __syncthreads();
    if (counted() <= counts) store(place_of_count(), count);
    if constexpr (needs.sum) store_limbs(block_.sum, place_of_sum, share_.needs.sum);
    if constexpr (needs.absolute)
      store_limbs(block_.absolute, place_of_absolute, share_.needs.absolute);
    if constexpr (needs.squares)
      store_limbs(block_.squares, place_of_squares, share_.needs.squares);
    if (!stores(share_.needs.extrema) || !needs.extrema || threadIdx.x != 0) return;
    store(place_of_minimum, extrema.minimum);
    store(place_of_maximum, extrema.maximum);
  }

 private:
  // Places of words in an Accumulator.
  static constexpr unsigned bytes = sizeof(std::uint64_t);
  static constexpr unsigned place_of_sum = offsetof(Accumulator, sum) / bytes;
  static constexpr unsigned place_of_absolute = offsetof(Accumulator, absolute) / bytes;
  static constexpr unsigned place_of_squares = offsetof(Accumulator, squares) / bytes;
  static constexpr unsigned place_of_minimum = offsetof(Accumulator, minimum) / bytes;
  static constexpr unsigned place_of_maximum = offsetof(Accumulator, maximum) / bytes;
  static constexpr unsigned place_of_first_nan = offsetof(Accumulator, first_nan) / bytes;
  static constexpr unsigned counts = place_of_sum;
  static_assert(offsetof(Accumulator, count) == 0 && offsetof(Accumulator, nan_count) == bytes &&
                offsetof(Accumulator, positive_infinities) == 2 * bytes &&
                offsetof(Accumulator, negative_infinities) == 3 * bytes && counts == 4);
  static constexpr unsigned words_of_extremum = sizeof(Extremum) / bytes;
  static_assert(place_of_maximum == place_of_minimum + words_of_extremum);
  static_assert(max_collected_blocks <= reduce_warps);

  /// Returns whether it stores a part. What nobody reads is not published.
  __device__ bool stores(bool needed) const { return needed || to_ == nullptr; }

  /// Returns which count is the thread's, if it is below `counts`; the first NaN's place if equal.
  __device__ static unsigned counted() { return threadIdx.x - (reduce_threads - counts - 1); }

  __device__ static unsigned place_of_count() {
    return counted() == counts ? place_of_first_nan : counted();
  }

  /// Returns the thread's count of all blocks that this one knows.
  __device__ std::uint64_t completed_count() const {
    const unsigned i = counted();
    if (i > counts) return 0;
    const bool is_place = i == counts;
    const std::uint64_t none = is_place ? no_index : 0;
    std::uint64_t value = i == 0 && to_ == share_.published ? share_.count : none;
    const auto combine = [&](std::uint64_t other) {
      value = !is_place ? value + other : other < value ? other : value;
    };
    if (share_.collected == nullptr) {
      combine(taken(place_of_count(), none));
    } else {
      combine(count_of_block(i));
      visit_others(place_of_count(), combine);
    }
    return value;
  }

  __device__ std::uint64_t count_of_block(unsigned i) const {
    if (i == 1) return block_.nan_count;
    if (i == 2) return block_.positive_infinities;
    if (i == 3) return block_.negative_infinities;
    if (i == 0) return 0;
    const std::uint64_t first = block_.first_nan;
    return first == no_index ? first : share_.index_of(first);
  }

  /// Makes the thread's limb one of all blocks that this one knows.
  template <class Number>
  __device__ void complete(Number& number, unsigned place, bool needed) const {
    static_assert(Number::limbs <= reduce_threads);
    const unsigned i = threadIdx.x;
    if (i >= Number::limbs) return;
    if (share_.collected == nullptr)
      number.limb[i] = static_cast<std::int64_t>(taken(place + i, 0));
    else if (needed)
      visit_others(place + i, [&](std::uint64_t other) {
        number.limb[i] += static_cast<std::int64_t>(other);
      });
  }

  /// Stores the thread's limb after one step of carrying.
  template <class Number>
  __device__ void store_limbs(const Number& number, unsigned place, bool needed) const {
    const auto i = static_cast<int>(threadIdx.x);
    if (i < Number::limbs && stores(needed))
      store(place + threadIdx.x, static_cast<std::uint64_t>(carried_limb<Number>(
                                     i, [&](int k) { return number.limb[k]; })));
  }

  /// In thread 0.
  __device__ BlockExtrema extrema_of_totals() const {
    BlockExtrema best{Extremum::none(), Extremum::none()};
    for (unsigned i = threadIdx.x; i < gridDim.x; i += reduce_threads) {
      best.minimum.merge(read_shared_by_blocks(share_.block_extrema[i].minimum));
      best.maximum.merge(read_shared_by_blocks(share_.block_extrema[i].maximum));
    }
    best = best_of_block(best, block_.warp_extrema);
    if (threadIdx.x != 0) return best;
    best = {share_.indexed(best.minimum), share_.indexed(best.maximum)};
    best.minimum.merge(taken_extremum(place_of_minimum));
    best.maximum.merge(taken_extremum(place_of_maximum));
    return best;
  }

  /// In thread 0. Each word of another block is awaited by a thread of its own.
  __device__ BlockExtrema collected_extrema() const {
    BlockExtrema best{};
    if (threadIdx.x == 0) {
      best = share_.block_extrema[blockIdx.x];  // which this thread has stored
      best = {share_.indexed(best.minimum), share_.indexed(best.maximum)};
    }
    if (!collects_) return best;
    constexpr unsigned words = 2 * words_of_extremum;
    const unsigned other = threadIdx.x / words;
    if (share_.needs.extrema && other < blockIdx.x) {
      const unsigned i = threadIdx.x % words;
      reinterpret_cast<std::uint64_t*>(block_.warp_extrema + other)[i] =
          awaited(other, place_of_minimum + i);
    }
    __syncthreads();
    if (!share_.needs.extrema || threadIdx.x != 0) return best;
    for (unsigned i = 0; i < blockIdx.x; ++i) {
      best.minimum.merge(block_.warp_extrema[i].minimum);
      best.maximum.merge(block_.warp_extrema[i].maximum);
    }
    return best;
  }

  /// Empties a word of the totals; returns what it was.
  __device__ std::uint64_t taken(unsigned place, std::uint64_t none) const {
    return atomicExch(reinterpret_cast<unsigned long long*>(total_ + place),
                      static_cast<unsigned long long>(none));
  }

  __device__ Extremum taken_extremum(unsigned place) const {
    const Extremum none = Extremum::none();
    return {taken(place, none.key), taken(place + 1, none.index), taken(place + 2, none.bits)};
  }

  /// Returns a word that another block publishes, read as it is stored: in halves of 64 bits.
  __device__ PublishedWord collected(unsigned block, unsigned place) const {
    return std::bit_cast<PublishedWord>(
        load_relaxed(reinterpret_cast<const ulonglong2*>(&share_.collected[block].word[place])));
  }

  __device__ std::uint64_t awaited(unsigned block, unsigned place) const {
    PublishedWord word{};
    while (!word.is_of(share_.epoch)) word = collected(block, place);
    return word.value();
  }

  /// Waits for a word of each other block, if this one collects, and visits it.
  template <class Visit>
  __device__ void visit_others(unsigned place, Visit visit) const {
    const unsigned others = collects_ ? blockIdx.x : 0;
    PublishedWord words[max_collected_blocks - 1] = {};
    bool missing = true;
    while (missing) {
      missing = false;
#pragma unroll
      for (unsigned b = 0; b < max_collected_blocks - 1; ++b) {
        if (b >= others || words[b].is_of(share_.epoch)) continue;
        missing = true;
        words[b] = collected(b, place);
      }
    }
#pragma unroll
    for (unsigned b = 0; b < max_collected_blocks - 1; ++b)
      if (b < others) visit(words[b].value());
  }

  /// Stores a word of the result.
  __device__ void store(unsigned place, std::uint64_t value) const {
    if (to_ == nullptr)
      total_[place] = value;
    else
      store_to_host(&to_->word[place], PublishedWord::of(value, share_.epoch));
  }

  __device__ void store(unsigned place, const Extremum& extremum) const {
    store(place, extremum.key);
    store(place + 1, extremum.index);
    store(place + 2, extremum.bits);
  }

  const ReduceShare& share_;
  std::uint64_t* const total_;  ///< the words of the totals in device memory
  BlockTotals& block_;
  const bool collects_;  ///< whether it is the block that collects
  PublishedReduce* const to_;
};

__device__ inline void add_count(std::int64_t& to, unsigned count) {
  if (count != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(count));
}

/// Adds the block to the totals in device memory; tells whether all others have done so. By all
/// threads.
template <ReduceNeeds needs>
__device__ bool add_as_last(const ReduceShare& share, BlockTotals& block) {
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
  if (block.last) __threadfence();
  return block.last;
}

/// Hands the block's totals over; the last one completes them. By all threads.
template <ReduceNeeds needs>
__device__ void finish_block(const ReduceShare& share, BlockTotals& block) {
  if (share.collected != nullptr || add_as_last<needs>(share, block))
    BlockResult<needs>(share, block).store();
}

}  // namespace warpfold::cuda::kernels
