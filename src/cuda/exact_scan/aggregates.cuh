#pragma once

#include <cstdint>

#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/relaxed.cuh"
#include "cuda/primitives/warp.cuh"

/// The aggregates that thread blocks publish for one another: integers, which add up in any order.
namespace warpfold::cuda::kernels {

/// The rounds for which aggregates are kept. A block publishes one round ahead of what it has read,
/// and others may read what is a round older.
inline constexpr std::uint32_t ring_rounds = 16;

/// Returns how many epochs a scan of so many rounds takes.
constexpr std::uint32_t ring_epochs(std::uint64_t rounds) {
  return static_cast<std::uint32_t>((rounds + ring_rounds - 1) / ring_rounds);
}

/// A part of an aggregate with its status flag: the part is valid where `epoch` is the round's.
/// Both are written and read by one access of 16 bytes.
struct alignas(16) AggregateWord {
  std::uint32_t part[3];
  std::uint32_t epoch;
};

/// A header has the window's top above these flags: NonFiniteFlag; remainder_flag; whether slices 3
/// and 4 are not zero; whether the aggregate is at full width; whether the block has published
/// remainders, of this tile or of one before.
inline constexpr std::uint32_t lower_slices_flag = 16;
inline constexpr std::uint32_t any_remainder_flag = 64;
inline constexpr int header_shift = 8;
inline constexpr int header_bias = 2048;
inline constexpr std::uint32_t header_window_mask = ~0u << header_shift;

__device__ inline std::uint32_t header_of(int top) {
  return static_cast<std::uint32_t>(top + header_bias) << header_shift;
}
__device__ inline int top_of(std::uint32_t header) {
  return static_cast<int>(header >> header_shift) - header_bias;
}

/// The aggregate of a tile: slice 0 and the header; slices 1 and 2; slices 3 and 4.
struct TileAggregate {
  AggregateWord lead;
  AggregateWord upper;
  AggregateWord lower;

  __device__ TileAggregate(const WindowSum& units, std::uint32_t header) {
    const auto first = static_cast<std::uint64_t>(units.slice[0]);
    lead = {{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32), header},
            0};
    upper = pair(units.slice[1], units.slice[2]);
    lower = pair(units.slice[3], units.slice[4]);
  }

 private:
  static __device__ AggregateWord pair(std::int64_t high, std::int64_t low) {
    return {{static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(low),
             static_cast<std::uint32_t>(high >> 32) | static_cast<std::uint32_t>(low >> 32) << 16},
            0};
  }
};

/// The sums of the parts of words of one kind. The upper bits of a pair of slices add up in 16 bits
/// each.
struct WordSums {
  std::uint64_t part[2];
  std::uint32_t last;

  __device__ void add(const AggregateWord& word) {
    part[0] += word.part[0];
    part[1] += word.part[1];
    last += word.part[2];
  }
  __device__ std::int64_t lead() const {
    return static_cast<std::int64_t>(part[0] + (part[1] << 32));
  }
  __device__ std::int64_t high() const {
    return static_cast<std::int64_t>(part[0] + (std::uint64_t{last & 0xffffu} << 32));
  }
  __device__ std::int64_t low() const {
    return static_cast<std::int64_t>(part[1] + (std::uint64_t{last >> 16} << 32));
  }
};

/// A lane's words of a round's aggregates: the first two of block b are words 2 b and 2 b + 1.
struct LaneAggregates {
  static constexpr int count = 10;
  AggregateWord word[count];
};
/// Sums of `count` words fit in 16 bits.
static_assert(LaneAggregates::count << (slice_bits - 32) <= 1 << 16);

inline constexpr std::uint32_t max_blocks = LaneAggregates::count * warp::lanes / 2;

/// The tiles that a look-back covers: those between the block's tile of the round before, included,
/// and its tile of this round; one of each block. In round 0 those of the blocks below.
struct LookbackSpan {
  std::uint32_t round;
  std::uint32_t blocks;

  /// Returns the block of the lane's word i.
  __device__ static std::uint32_t block_of(int i) {
    return static_cast<std::uint32_t>(i * warp::lanes + warp::lane()) / 2;
  }
  __device__ static bool has_lead_word() { return warp::lane() % 2 == 0; }
  __device__ std::uint32_t round_of(std::uint32_t block) const {
    return block < blockIdx.x ? round : round - 1;
  }
  __device__ bool contains(std::uint32_t block) const {
    return block < blocks && (round > 0 || block < blockIdx.x);
  }
};

/// The aggregates at full width that are read at the same time: more do not fit in registers.
inline constexpr int full_width_at_once = 6;

/// The aggregates of the last rounds, in device memory that was zero before the first epoch, 1.
struct ExactAggregateRing {
  AggregateWord* words;             ///< ring_rounds * blocks * 2: lead and upper
  AggregateWord* lower_words;       ///< ring_rounds * blocks
  AggregateWord* full_width_words;  ///< ring_rounds * blocks * WarpSuperaccumulator::lanes
  /// As many: the remainders of each block's tiles so far.
  AggregateWord* remainder_words;
  std::uint32_t blocks;
  std::uint32_t first_epoch;

  static constexpr std::uint64_t word_count(std::uint32_t blocks) {
    return std::uint64_t{ring_rounds} * blocks;
  }
  static constexpr std::uint64_t full_width_word_count(std::uint32_t blocks) {
    return std::uint64_t{ring_rounds} * blocks * WarpSuperaccumulator::lanes;
  }

  __device__ std::uint32_t epoch(std::uint32_t round) const {
    return first_epoch + round / ring_rounds;
  }
  __device__ std::uint64_t place(std::uint32_t round, std::uint32_t block) const {
    return round % ring_rounds * blocks + block;
  }

  /// Publishes a record. Called by one lane.
  __device__ void publish(std::uint32_t round, std::uint32_t block, TileAggregate record) const {
    for (AggregateWord* const word : {&record.lead, &record.upper, &record.lower})
      word->epoch = epoch(round);
    AggregateWord* const to = words + 2 * place(round, block);
    store_whole(to, record.lead);
    store_whole(to + 1, record.upper);
    store_whole(lower_words + place(round, block), record.lower);
  }

  /// Publishes a number as one of `wide_words`. Called by a whole warp.
  __device__ void publish(AggregateWord* wide_words, std::uint32_t round, std::uint32_t block,
                          const WarpSuperaccumulator& number) const {
    if (warp::lane() >= WarpSuperaccumulator::lanes) return;
    AggregateWord word{{}, epoch(round)};
#pragma unroll
    for (int k = 0; k < WarpSuperaccumulator::per_lane; ++k)
      word.part[k] = static_cast<std::uint32_t>(number.digit[k]);
    store_whole(lane_word(wide_words, round, block), word);
  }

  /// Waits for the numbers in `wide_words` of a span's blocks from `first` on whose bits are set in
  /// `blocks`, and adds them. By a whole warp.
  __device__ void add_full_width(AggregateWord* wide_words, std::uint32_t first,
                                 std::uint32_t blocks, const LookbackSpan& span,
                                 WarpSuperaccumulator& to) const {
    if (warp::lane() >= WarpSuperaccumulator::lanes) blocks = 0;
#pragma unroll 1
    for (; blocks != 0; first += full_width_at_once, blocks >>= full_width_at_once) {
      AggregateWord word[full_width_at_once] = {};
      std::uint32_t missing = blocks & ((1u << full_width_at_once) - 1);
      while (missing != 0) {
#pragma unroll
        for (int i = 0; i < full_width_at_once; ++i) {
          const std::uint32_t block = first + static_cast<std::uint32_t>(i);
          if ((missing >> i & 1) != 0)
            word[i] = load_whole(lane_word(wide_words, span.round_of(block), block));
        }
#pragma unroll
        for (int i = 0; i < full_width_at_once; ++i)
          if (word[i].epoch == epoch(span.round_of(first + static_cast<std::uint32_t>(i))))
            missing &= ~(1u << i);
      }
#pragma unroll
      for (const AggregateWord& each : word)
#pragma unroll
        for (int k = 0; k < WarpSuperaccumulator::per_lane; ++k) to.digit[k] += each.part[k];
    }
    __syncwarp();
  }

  /// Returns the remainders of a span's tiles and of all before. By a whole warp.
  __device__ __noinline__ WarpSuperaccumulator remainders(LookbackSpan span) const {
    WarpSuperaccumulator sum{};
#pragma unroll 1
    for (std::uint32_t first = 0; first < span.blocks; first += warp::lanes) {
      const std::uint32_t block = first + static_cast<std::uint32_t>(warp::lane());
      AggregateWord lead{};
      while (span.contains(block) && lead.epoch != epoch(span.round_of(block)))
        lead = load_whole(words + 2 * place(span.round_of(block), block));
      const std::uint32_t having = warp::ballot((lead.part[2] & any_remainder_flag) != 0);
      if (having != 0) add_full_width(remainder_words, first, having, span, sum);
    }
    sum.normalize();
    return sum;
  }

 private:
  __device__ AggregateWord* lane_word(AggregateWord* wide_words, std::uint32_t round,
                                      std::uint32_t block) const {
    return wide_words + place(round, block) * WarpSuperaccumulator::lanes + warp::lane();
  }
};

}  // namespace warpfold::cuda::kernels
