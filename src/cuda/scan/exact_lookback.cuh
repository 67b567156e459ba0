#pragma once

#include <cstdint>

#include "cuda/primitives/warp.cuh"
#include "cuda/scan/exact_again.cuh"
#include "cuda/scan/exact_digits.cuh"
#include "cuda/scan/exact_records.cuh"
#include "cuda/scan/exact_shape.cuh"
#include "cuda/scan/exact_window.cuh"

namespace warpfold::cuda::kernels {

/// What is before a tile.
struct TilePrefix {
  LaneDigits rest;  ///< what the slices do not hold
  bool any_rest;
  WindowUnits units;
  std::int32_t top;
  std::uint32_t flags;  ///< of what is not finite
};

/// Where and when a tile is resolved.
struct TilePlace {
  std::uint32_t round;
  std::uint32_t blocks;

  /// Says which block's the lane's word i is.
  __device__ static std::uint32_t block_of(int i) {
    return static_cast<std::uint32_t>(i * warp::lanes + warp::lane()) / 2;
  }
  __device__ static bool is_lead() { return warp::lane() % 2 == 0; }
  __device__ std::uint32_t round_of(std::uint32_t block) const {
    return block < blockIdx.x ? round : round - 1;
  }
  /// Whether the block's tile of that round is between this block's last and this one.
  __device__ bool is_before(std::uint32_t block) const {
    return block < blocks && (round > 0 || block < blockIdx.x);
  }
};

/// Adds slices 3 and 4 of a lane's share of the records. By a whole warp.
__device__ __noinline__ inline WordSums sum_of_lower_words(const ExactRecords& records,
                                                           TilePlace place) {
  constexpr int count = LaneRecords::count / 2;
  RecordWord word[count] = {};
  bool missing = true;
  while (missing) {
    missing = false;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto block = static_cast<std::uint32_t>(i * warp::lanes + warp::lane());
      const std::uint32_t round = place.round_of(block);
      if (!place.is_before(block) || word[i].epoch == records.epoch(round)) continue;
      missing = true;
      word[i] = load_whole(records.lower_words + records.place(round, block));
    }
    missing = warp::any(missing);
  }
  WordSums sums{};
#pragma unroll
  for (const RecordWord& each : word) sums.add(each);
  return sums;
}

/// Returns the sum of all lanes' values, whose magnitude is 2^52 or less. By a whole warp.
__device__ inline std::int64_t sum_of_signed(std::int64_t value) {
  constexpr std::int64_t offset = std::int64_t{1} << 52;
  return static_cast<std::int64_t>(warp::sum(static_cast<std::uint64_t>(value + offset))) -
         warp::lanes * offset;
}

/// Returns the sums of all lanes' words of one window, of slices 3 and 4 by lanes of blocks. By a
/// whole warp.
__device__ inline WindowUnits sum_of_words(const WordSums& own, const WordSums& lower, bool more) {
  WindowUnits sum{};
  if (TilePlace::is_lead()) {
    sum.slice[0] = own.lead();
  } else {
    sum.slice[1] = own.high();
    sum.slice[2] = own.low();
  }
  sum.slice[3] = lower.high();
  sum.slice[4] = lower.low();
  sum.slice[0] = sum_of_signed(sum.slice[0]);
#pragma unroll
  for (int i = 1; i < window_slices; ++i)
    if (i < 3 || more)
      sum.slice[i] = static_cast<std::int64_t>(warp::sum(static_cast<std::uint64_t>(sum.slice[i])));
  return sum;
}

/// The lower words of a lane's records that have slices 3 and 4. By a whole warp.
__device__ inline LaneRecords lower_words_of(const ExactRecords& records, std::uint32_t wanted,
                                             const TilePlace& place) {
  LaneRecords lower{};
  bool missing = true;
  while (missing) {
    missing = false;
#pragma unroll
    for (int i = 0; i < LaneRecords::count; ++i) {
      const std::uint32_t block = place.block_of(i);
      const std::uint32_t round = place.round_of(block);
      if ((wanted >> i & 1) == 0 || lower.word[i].epoch == records.epoch(round)) continue;
      missing = true;
      lower.word[i] = load_whole(records.lower_words + records.place(round, block));
    }
    missing = warp::any(missing);
  }
  return lower;
}

/// Returns bits 0, 2, 4, ... of a word side by side.
__device__ inline std::uint32_t every_other_bit(std::uint32_t word) {
  word &= 0x55555555u;
  word = (word | word >> 1) & 0x33333333u;
  word = (word | word >> 2) & 0x0f0f0f0fu;
  word = (word | word >> 4) & 0x00ff00ffu;
  return (word | word >> 8) & 0x0000ffffu;
}

/// Adds records of whatever windows: those of each together. By a whole warp.
__device__ inline void add_of_any_window(LaneDigits& sum, const ExactRecords& records,
                                         const LaneRecords& read, const TilePlace& place) {
  std::uint32_t left = 0;
  std::uint32_t more = 0;
  std::uint32_t in_digits = 0;
#pragma unroll
  for (int i = 0; i < LaneRecords::count; ++i) {
    if (!place.is_lead() || !place.is_before(place.block_of(i))) continue;
    const std::uint32_t head = read.word[i].part[2];
    ((head & in_digits_flag) != 0 ? in_digits : left) |= 1u << i;
    if ((head & more_slices_flag) != 0) more |= 1u << i;
  }
  const LaneRecords lower = lower_words_of(records, more, place);
#pragma unroll 1
  for (int i = 0; i < LaneRecords::count; ++i) {
    const std::uint32_t having = warp::ballot((in_digits >> i & 1) != 0);
    const auto round_of = [&place](std::uint32_t block) { return place.round_of(block); };
    if (having != 0)
      records.add_digits(warp::shuffle(place.block_of(i), 0), every_other_bit(having), round_of,
                         sum);
  }
  while (warp::any(left != 0)) {
    std::uint32_t some = 0;
#pragma unroll
    for (int i = 0; i < LaneRecords::count; ++i)
      if ((left >> i & 1) != 0) some = read.word[i].part[2] & head_mask;
    const std::uint32_t window = warp::shuffle(some, trailing_zeros(warp::ballot(left != 0)));
    std::uint32_t its = 0;
#pragma unroll
    for (int i = 0; i < LaneRecords::count; ++i)
      if ((read.word[i].part[2] & head_mask) == window) its |= left & 1u << i;
    left &= ~its;
    its = warp::shuffle(its, warp::lane() & ~1);
    WordSums upper{};
    WordSums below{};
#pragma unroll
    for (int i = 0; i < LaneRecords::count; ++i) {
      if ((its >> i & 1) == 0) continue;
      upper.add(read.word[i]);
      below.add(lower.word[i]);
    }
    sum.add(sum_of_words(upper, below, true), top_of(window));
  }
}

/// Opens the window of `top` for a normalized prefix, or a higher one where that does not do, by a
/// tile whose elements are below 2^exponent; tells whether it is another. By a whole warp.
template <class Shape>
__device__ bool open_window(TilePrefix& prefix, int top, int exponent, bool in_digits,
                            std::uint32_t* digits) {
  const int above = prefix.rest.exponent();
  const bool again = in_digits || above > top - 1;
  if (again)
    top = max(max(top, least_full_top), top_of_at_least(max(above + 2, exponent + Shape::room)));
  prefix.units = prefix.rest.take(top, digits);
  prefix.top = top;
  return again;
}

/// Finds what is before a tile from what was before the block's last one and the records since,
/// whatever their windows are; tells whether the tile's does not do. By a whole warp.
template <class Shape>
__device__ __noinline__ bool resolve_anew(TilePrefix& prefix, const ExactRecords& records,
                                          const LaneRecords& read, TilePlace place) {
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  const TileStart& start = tile.start[place.round % exact_slots];
  prefix.rest.add(prefix.units, prefix.top);
  add_of_any_window(prefix.rest, records, read, place);
  prefix.rest.normalize();
  return open_window<Shape>(prefix, tile.top[place.round % window_rounds], start.exponent,
                            start.in_digits, tile.digit);
}

/// The warp that publishes the sums of a block's tiles.
template <class Shape>
class TilePublisher {
 public:
  __device__ explicit TilePublisher(const ExactRecords& records)
      : records_(records), tile_(TileMemory<Shape>::own()) {}

  /// Publishes the sum of the round's tile, and leaves the sums below its segments in its start.
  __device__ void publish(std::uint32_t round) {
    SegmentTotal own{};
    own.top = no_exponent;
    if (warp::lane() < segment_warps()) own = tile_.segment[warp::lane()].total_of(round);
    std::uint32_t flags = own.flags;
    if (own.units.any_below(1)) flags |= third_slice_flag;
    if (own.units.any_below(2)) flags |= more_slices_flag;
    flags = warp::combined_bits(flags);
    WindowUnits through = own.units;
    if ((flags & third_slice_flag) != 0) add_lanes_below(through, 2, window_slices);
    const int reach = publish_sum(round, through, flags);
    add_lanes_below(through, 0, 2);
    const std::uint32_t below_flags =
        (flags & special_flags) != 0 ? flags_below(own.flags) : std::uint32_t{0};
    const int exponent = warp::reduce_xor(own.top, warp::Maximum{});
    TileStart& start = tile_.start[round % exact_slots];
    if (warp::lane() < segment_warps()) {
      SegmentStart& segment = start.segment[warp::lane()];
#pragma unroll
      for (int i = 0; i < window_slices; ++i)
        segment.units.slice[i] = through.slice[i] - own.units.slice[i];
      segment.flags = below_flags;
      segment.otherwise = (below_flags | own.flags) != 0;
    }
    if (warp::lane() == 0) {
      start.exponent = exponent;
      start.reach = reach;
      start.in_digits = (flags & in_digits_flag) != 0;
    }
  }

 private:
  /// Beside the flags of a record: whether a segment has more than two slices.
  static constexpr std::uint32_t third_slice_flag = 64;

  /// Of each lane's first two slices, and of those below them with the lanes below added. Returns
  /// the exponent of a power of two that as many such sums, as there are blocks, do not exceed.
  __device__ int publish_sum(std::uint32_t round, const WindowUnits& units, std::uint32_t flags) {
    WindowUnits sum;
#pragma unroll
    for (int i = 0; i < window_slices; ++i)
      sum.slice[i] =
          i < 2 ? sum_of_signed(units.slice[i]) : warp::shuffle(units.slice[i], warp::lanes - 1);
    sum.normalize();
    std::uint32_t kept = special_flags | more_slices_flag;
    if ((flags & in_digits_flag) != 0) {
      LaneDigits digits = sum_of_segments(tile_, round, segment_warps());
      digits.normalize();
      records_.publish(round, blockIdx.x, digits);
      kept = special_flags | in_digits_flag;
    }
    if (warp::lane() == 0)
      records_.publish(round, blockIdx.x,
                       TileRecord(sum, head_of(tile_.top[round % window_rounds]) | (flags & kept)));
    return sum.exponent(tile_.top[round % window_rounds]) + 64 - leading_zeros(gridDim.x);
  }

  __device__ static void add_lanes_below(WindowUnits& units, int begin, int end) {
#pragma unroll
    for (int i = 0; i < window_slices; ++i)
      if (i >= begin && i < end)
        units.slice[i] = warp::inclusive_scan(units.slice[i], warp::Plus{});
  }

  const ExactRecords records_;
  TileMemory<Shape>& tile_;
};

/// The warp that finds what is before a block's tiles.
template <class Shape>
class TileResolver {
 public:
  /// Chooses the window of the first tiles. By a whole warp.
  __device__ TileResolver(const ExactRecords& records, const ExactCarry& carry)
      : records_(records), tile_(TileMemory<Shape>::own()) {
    prefix_.rest = LaneDigits{};
    prefix_.rest.add(carry.digit);
    prefix_.flags = carry.flags;
    int exponent =
        warp::lane() < segment_warps() ? tile_.first_exponent[warp::lane()] : no_exponent;
    exponent = warp::reduce_xor(exponent, warp::Maximum{});
    // Prefixes grow for some rounds before windows are chosen by them.
    constexpr int growth = 7;
    const int top =
        top_of_at_least(max(prefix_.rest.exponent() + 3, exponent + Shape::room + growth));
    open_window<Shape>(prefix_, top, exponent, false, tile_.digit);
    prefix_.any_rest = prefix_.rest.any();
    for (std::uint32_t round = 0; round < window_lead; ++round) tile_.top[round] = top;
  }

  /// Reads what blocks have published of the tiles before the round's, as far as that is missing;
  /// tells whether it was. Words of no epoch are missing.
  __device__ bool load(std::uint32_t round, LaneRecords& records) const {
    const TilePlace place{round, records_.blocks};
    const std::uint32_t now = records_.epoch(round);
    const std::uint32_t before = records_.epoch(round - 1);
    const RecordWord* const words_now = records_.words + 2 * records_.place(round, 0);
    const RecordWord* const words_before = records_.words + 2 * records_.place(round - 1, 0);
    bool missing = false;
#pragma unroll
    for (int i = 0; i < LaneRecords::count; ++i) {
      const std::uint32_t block = place.block_of(i);
      const bool in_round = block < blockIdx.x;
      if (place.is_before(block) && records.word[i].epoch != (in_round ? now : before)) {
        missing = true;
        records.word[i] =
            load_whole((in_round ? words_now : words_before) + i * warp::lanes + warp::lane());
      }
    }
    return warp::any(missing);
  }

  /// Finds what is before the round's tile, by records that load() read or reads again.
  __device__ void resolve(std::uint32_t round, LaneRecords& records) {
    while (load(round, records)) {
    }
    TileStart& start = tile_.start[round % exact_slots];
    const TilePlace place{round, records_.blocks};
    // Those of records, and whether the usual way does not do.
    std::uint32_t flags =
        tile_.top[round % window_rounds] == prefix_.top && !start.in_digits ? 0 : in_digits_flag;
    if (place.is_lead()) {
#pragma unroll
      for (int i = 0; i < LaneRecords::count; ++i) {
        const std::uint32_t head = records.word[i].part[2];
        flags |= head & ~head_mask;
        const bool other_window = (head & head_mask) != head_of(prefix_.top);
        if (place.is_before(place.block_of(i)) && other_window) flags |= in_digits_flag;
      }
    }
    flags = warp::combined_bits(flags);
    prefix_.flags |= flags & special_flags;
    bool again = false;
    if ((flags & in_digits_flag) != 0 || !add(place, records, (flags & more_slices_flag) != 0)) {
      // Copies, as what a call gets by reference is not in registers anywhere.
      TilePrefix prefix = prefix_;
      const ExactRecords where = records_;
      const LaneRecords read = records;
      std::uint32_t highest = 0;
      if (place.is_lead())
        for (const RecordWord& word : records.word) highest = max(highest, word.part[2]);
      // The first tiles' windows are higher than is needed later.
      if (round > 2 * window_lead) others_top_ = max(others_top_, top_of(warp::maximum(highest)));
      again = resolve_anew<Shape>(prefix, where, read, place);
      prefix_ = prefix;
      prefix_.any_rest = prefix.rest.any();
    }
    store_start(start, again);
  }

  /// Chooses the window of a round's tile by that of `known`, which is resolved, and by those of
  /// other blocks, so that few are different.
  __device__ void choose_window(std::uint32_t round, std::uint32_t known) {
    constexpr int too_high = 24;
    const TileStart& start = tile_.start[known % exact_slots];
    const int needed =
        top_of_at_least(max(max(prefix_.units.exponent(prefix_.top), start.reach) + 3,
                            start.exponent + Shape::room + 2));
    const auto unless_too_high = [&](int top) { return top > needed + too_high ? needed : top; };
    const int own = start.in_digits ? needed : unless_too_high(top_);
    top_ = max(needed, max(own, unless_too_high(others_top_)));
    others_top_ = least_top;
    if (warp::lane() == 0) tile_.top[round % window_rounds] = top_;
  }

 private:
  /// Adds records of the prefix's window; or nothing, where the sum does not fit that.
  __device__ bool add(const TilePlace& place, const LaneRecords& records, bool more_slices) {
    WordSums own{};
#pragma unroll
    for (const RecordWord& word : records.word) own.add(word);
    WordSums lower{};
    if (more_slices) {
      const ExactRecords where = records_;
      lower = sum_of_lower_words(where, place);
    }
    WindowUnits sum = sum_of_words(own, lower, more_slices);
    sum.add(prefix_.units);
    sum.normalize();
    constexpr std::int64_t limit = std::int64_t{1} << (lead_bits - 1);
    if (sum.slice[0] >= limit || sum.slice[0] < -limit) return false;
    prefix_.units = sum;
    return true;
  }

  __device__ void store_start(TileStart& start, bool again) {
    if (warp::lane() < segment_warps()) {
      SegmentStart& segment = start.segment[warp::lane()];
      WindowUnits units = prefix_.units;
      if (!again) {
        units.add(segment.units);
        units.normalize();
      }
      segment.units = units;
      segment.flags |= prefix_.flags;
      segment.otherwise = segment.otherwise || again || prefix_.flags != 0;
    }
    if (prefix_.any_rest) prefix_.rest.store(start.rest);
    if (warp::lane() == 0) {
      start.top = prefix_.top;
      start.again = again;
      start.any_rest = prefix_.any_rest;
    }
    __syncwarp();
  }

  const ExactRecords records_;
  TileMemory<Shape>& tile_;
  TilePrefix prefix_;
  int top_ = least_top;         ///< of the window chosen last
  int others_top_ = least_top;  ///< the highest of other blocks
};

}  // namespace warpfold::cuda::kernels
