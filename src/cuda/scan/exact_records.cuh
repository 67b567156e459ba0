#pragma once

#include <cstdint>

#include "cuda/primitives/relaxed.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/scan/exact_digits.cuh"
#include "cuda/scan/exact_scan.hpp"
#include "cuda/scan/exact_window.cuh"

/// How the blocks of an exact scan learn what is before their tiles. All blocks of the grid are
/// resident, and block b takes the tiles b, b + G, b + 2G, ... of a grid of G: one each round. It
/// publishes each tile's sum ahead of what it writes, and knows what is before a tile by what was
/// before its last one and the G sums since: integers, which add up in any order.
namespace warpfold::cuda::kernels {

/// The rounds of which records are kept. A block publishes one round ahead of what it has read, and
/// others may read what is a round older.
inline constexpr std::uint32_t record_rounds = 16;

/// Says how many epochs a scan of so many rounds takes.
constexpr std::uint32_t record_epochs(std::uint64_t rounds) {
  return static_cast<std::uint32_t>((rounds + record_rounds - 1) / record_rounds);
}

/// A part of a record: written and read whole, so that it is seen to be valid by itself.
struct alignas(16) RecordWord {
  std::uint32_t part[3];
  std::uint32_t epoch;
};

/// What a record's head says: the flags of what is not finite, whether slices 3 and 4 are not zero,
/// or whether it is the digits that hold the sum; above these, the window's top.
inline constexpr std::uint32_t more_slices_flag = 16;
inline constexpr int head_shift = 8;
inline constexpr int head_bias = 2048;
inline constexpr std::uint32_t head_mask = ~0u << head_shift;

__device__ inline std::uint32_t head_of(int top) {
  return static_cast<std::uint32_t>(top + head_bias) << head_shift;
}
__device__ inline int top_of(std::uint32_t head) {
  return static_cast<int>(head >> head_shift) - head_bias;
}

/// The sum of a tile: its head and slice 0; slices 1 and 2; slices 3 and 4.
struct TileRecord {
  RecordWord lead;
  RecordWord upper;
  RecordWord lower;

  __device__ TileRecord(const WindowUnits& units, std::uint32_t head) {
    const auto first = static_cast<std::uint64_t>(units.slice[0]);
    lead = {{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32), head}, 0};
    upper = pair(units.slice[1], units.slice[2]);
    lower = pair(units.slice[3], units.slice[4]);
  }

 private:
  static __device__ RecordWord pair(std::int64_t high, std::int64_t low) {
    return {{static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(low),
             static_cast<std::uint32_t>(high >> 32) | static_cast<std::uint32_t>(low >> 32) << 16},
            0};
  }
};

/// The sums of parts of so many words of one kind: the upper and the lower slice of a pair add up
/// in 16 bits each.
struct WordSums {
  std::uint64_t part[2];
  std::uint32_t last;

  __device__ void add(const RecordWord& word) {
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

/// A lane's words of a round's records: the first two of block b are words 2 b and 2 b + 1.
struct LaneRecords {
  static constexpr int count = 10;
  RecordWord word[count];
};
/// As few bits hold the sums of.
static_assert(LaneRecords::count << (slice_bits - 32) <= 1 << 16);

inline constexpr std::uint32_t max_blocks = LaneRecords::count * warp::lanes / 2;

/// Records whose digits are read at the same time: more take registers that are not there.
inline constexpr int digits_at_once = 6;

/// The records of the last rounds, in device memory that was zero before the first epoch, 1.
struct ExactRecords {
  RecordWord* words;        ///< record_rounds * blocks * 2: lead and upper
  RecordWord* lower_words;  ///< record_rounds * blocks
  RecordWord* digit_words;  ///< record_rounds * blocks * LaneDigits::lanes
  std::uint32_t blocks;
  std::uint32_t first_epoch;

  static constexpr std::uint64_t word_count(std::uint32_t blocks) {
    return std::uint64_t{record_rounds} * blocks;
  }
  static constexpr std::uint64_t digit_word_count(std::uint32_t blocks) {
    return std::uint64_t{record_rounds} * blocks * LaneDigits::lanes;
  }

  __device__ std::uint32_t epoch(std::uint32_t round) const {
    return first_epoch + round / record_rounds;
  }
  __device__ std::uint64_t place(std::uint32_t round, std::uint32_t block) const {
    return round % record_rounds * blocks + block;
  }

  /// By one lane.
  __device__ void publish(std::uint32_t round, std::uint32_t block, TileRecord record) const {
    for (RecordWord* const word : {&record.lead, &record.upper, &record.lower})
      word->epoch = epoch(round);
    RecordWord* const to = words + 2 * place(round, block);
    store_whole(to, record.lead);
    store_whole(to + 1, record.upper);
    store_whole(lower_words + place(round, block), record.lower);
  }

  /// By a whole warp.
  __device__ void publish(std::uint32_t round, std::uint32_t block,
                          const LaneDigits& number) const {
    if (warp::lane() >= LaneDigits::lanes) return;
    RecordWord word{{}, epoch(round)};
#pragma unroll
    for (int k = 0; k < LaneDigits::per_lane; ++k)
      word.part[k] = static_cast<std::uint32_t>(number.digit[k]);
    store_whole(digits_of(round, block), word);
  }

  /// Waits for the digits of as many records as `blocks` has bits, of blocks from `first` on, and
  /// adds them; `round_of` says which round's a block's is. By a whole warp.
  template <class RoundOf>
  __device__ void add_digits(std::uint32_t first, std::uint32_t blocks, RoundOf round_of,
                             LaneDigits& to) const {
    if (warp::lane() >= LaneDigits::lanes) blocks = 0;
#pragma unroll 1
    for (; blocks != 0; first += digits_at_once, blocks >>= digits_at_once) {
      RecordWord word[digits_at_once] = {};
      std::uint32_t missing = blocks & ((1u << digits_at_once) - 1);
      while (missing != 0) {
#pragma unroll
        for (int i = 0; i < digits_at_once; ++i) {
          const std::uint32_t block = first + static_cast<std::uint32_t>(i);
          if ((missing >> i & 1) != 0) word[i] = load_whole(digits_of(round_of(block), block));
        }
#pragma unroll
        for (int i = 0; i < digits_at_once; ++i)
          if (word[i].epoch == epoch(round_of(first + static_cast<std::uint32_t>(i))))
            missing &= ~(1u << i);
      }
#pragma unroll
      for (const RecordWord& each : word)
#pragma unroll
        for (int k = 0; k < LaneDigits::per_lane; ++k) to.digit[k] += each.part[k];
    }
    __syncwarp();
  }

 private:
  __device__ RecordWord* digits_of(std::uint32_t round, std::uint32_t block) const {
    return digit_words + place(round, block) * LaneDigits::lanes + warp::lane();
  }
};

}  // namespace warpfold::cuda::kernels
