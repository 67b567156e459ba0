#pragma once

#include <cstdint>

#include "core/numeric/rounding.hpp"
#include "cuda/exact_scan/aggregates.cuh"
#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// The resolver's exclusive prefix of a tile: `sum` in the window of `top`, plus `rest`.
struct RunningPrefix {
  WarpSuperaccumulator rest;  ///< the part that the window's slices do not hold
  bool has_rest;
  WindowSum sum;
  std::int32_t top;
  std::uint32_t flags;  ///< NonFiniteFlag; remainder_flag if it lacks_remainders()

  /// Returns whether blocks have published other remainders than TakenRemainders.
  __device__ bool lacks_remainders() const { return (flags & remainder_flag) != 0; }
};

/// Windows so far below another still have units, of slice 1, that are more than all remainders of
/// the other.
inline constexpr int remainder_reach = 80;
/// The prefix takes remainders after so many rounds without further ones: prefixes that lack none
/// are written faster.
inline constexpr std::uint32_t remainder_patience = 16;

/// Waits for slices 3 and 4 of the span's aggregates; adds each lane's share. By a whole warp.
__device__ __noinline__ inline WordSums sum_lower_aggregate_words(const ExactAggregateRing& ring,
                                                                  LookbackSpan span) {
  constexpr int count = LaneAggregates::count / 2;
  AggregateWord word[count] = {};
  bool missing = true;
  while (missing) {
    missing = false;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto block = static_cast<std::uint32_t>(i * warp::lanes + warp::lane());
      const std::uint32_t round = span.round_of(block);
      if (!span.contains(block) || word[i].epoch == ring.epoch(round)) continue;
      missing = true;
      word[i] = load_whole(ring.lower_words + ring.place(round, block));
    }
    missing = warp::any(missing);
  }
  WordSums sums{};
#pragma unroll
  for (const AggregateWord& each : word) sums.add(each);
  return sums;
}

/// Returns the sum of all lanes' words of one window; `more` tells whether slices 3 and 4 count. By
/// a whole warp.
__device__ inline WindowSum sum_of_words(const WordSums& own, const WordSums& lower, bool more) {
  WindowSum sum{};
  if (LookbackSpan::has_lead_word()) {
    sum.slice[0] = own.lead();
  } else {
    sum.slice[1] = own.high();
    sum.slice[2] = own.low();
  }
  sum.slice[3] = lower.high();
  sum.slice[4] = lower.low();
  sum.slice[0] = warp_sum_of_signed(sum.slice[0]);
#pragma unroll
  for (int i = 1; i < window_slices; ++i)
    if (i < 3 || more)
      sum.slice[i] = static_cast<std::int64_t>(warp::sum(static_cast<std::uint64_t>(sum.slice[i])));
  return sum;
}

/// Waits for the lower words of those of a lane's aggregates whose bits are set in `wanted`. By a
/// whole warp.
__device__ inline LaneAggregates lower_words_of(const ExactAggregateRing& ring,
                                                std::uint32_t wanted, const LookbackSpan& span) {
  LaneAggregates lower{};
  bool missing = true;
  while (missing) {
    missing = false;
#pragma unroll
    for (int i = 0; i < LaneAggregates::count; ++i) {
      const std::uint32_t block = span.block_of(i);
      const std::uint32_t round = span.round_of(block);
      if ((wanted >> i & 1) == 0 || lower.word[i].epoch == ring.epoch(round)) continue;
      missing = true;
      lower.word[i] = load_whole(ring.lower_words + ring.place(round, block));
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

/// Adds aggregates of any windows, one window after the other. By a whole warp.
__device__ inline void add_of_any_windows(WarpSuperaccumulator& sum, const ExactAggregateRing& ring,
                                          const LaneAggregates& read, const LookbackSpan& span) {
  std::uint32_t left = 0;
  std::uint32_t more = 0;
  std::uint32_t full_width = 0;
#pragma unroll
  for (int i = 0; i < LaneAggregates::count; ++i) {
    if (!span.has_lead_word() || !span.contains(span.block_of(i))) continue;
    const std::uint32_t header = read.word[i].part[2];
    ((header & full_width_flag) != 0 ? full_width : left) |= 1u << i;
    if ((header & lower_slices_flag) != 0) more |= 1u << i;
  }
  const LaneAggregates lower = lower_words_of(ring, more, span);
#pragma unroll 1
  for (int i = 0; i < LaneAggregates::count; ++i) {
    const std::uint32_t having = warp::ballot((full_width >> i & 1) != 0);
    if (having != 0)
      ring.add_full_width(ring.full_width_words, warp::shuffle(span.block_of(i), 0),
                          every_other_bit(having), span, sum);
  }
  while (warp::any(left != 0)) {
    std::uint32_t some = 0;
#pragma unroll
    for (int i = 0; i < LaneAggregates::count; ++i)
      if ((left >> i & 1) != 0) some = read.word[i].part[2] & header_window_mask;
    const std::uint32_t window = warp::shuffle(some, trailing_zeros(warp::ballot(left != 0)));
    std::uint32_t its = 0;
#pragma unroll
    for (int i = 0; i < LaneAggregates::count; ++i)
      if ((read.word[i].part[2] & header_window_mask) == window) its |= left & 1u << i;
    left &= ~its;
    its = warp::shuffle(its, warp::lane() & ~1);
    WordSums upper{};
    WordSums below{};
#pragma unroll
    for (int i = 0; i < LaneAggregates::count; ++i) {
      if ((its >> i & 1) == 0) continue;
      upper.add(read.word[i]);
      below.add(lower.word[i]);
    }
    sum.add(sum_of_words(upper, below, true), top_of(window));
  }
}

/// Adds the remainders that the prefix lacks to its `rest`. By a whole warp.
template <class Size>
__device__ void take_remainders(RunningPrefix& prefix, const ExactAggregateRing& ring,
                                const LookbackSpan& span) {
  BlockMemoryOf<Size>& shared = BlockMemoryOf<Size>::own();
  const WarpSuperaccumulator remainders = ring.remainders(span);
  prefix.rest.add(remainders);
  prefix.rest.subtract(shared.remainders.digit);
  prefix.rest.normalize();
  remainders.store(shared.remainders.digit);
  __syncwarp();
  prefix.flags &= ~remainder_flag;
}

/// Moves a normalized prefix from `rest` to the window of `top`, or to a higher one where it does
/// not fit or the tile's aggregate is at full width; tells which. The tile's elements are below
/// 2^exponent. By a whole warp.
template <class Size>
__device__ bool open_window(RunningPrefix& prefix, int top, int exponent, bool full_width,
                            std::uint32_t* digits) {
  const int above = prefix.rest.exponent();
  const bool reopened = full_width || above > top - 1;
  if (reopened)
    top = max(max(top, least_full_top), top_of_at_least(max(above + 2, exponent + Size::headroom)));
  prefix.sum = prefix.rest.take(top, digits);
  prefix.top = top;
  return reopened;
}

/// Advances the prefix to a tile at full width, whatever the windows of the aggregates; tells
/// whether the tile's window has been reopened. By a whole warp.
template <class Size>
__device__ __noinline__ bool resolve_slow_path(RunningPrefix& prefix,
                                               const ExactAggregateRing& ring,
                                               const LaneAggregates& read, LookbackSpan span) {
  BlockMemoryOf<Size>& shared = BlockMemoryOf<Size>::own();
  const TilePrefix& tile_prefix = shared.tile_prefix[span.round % slot_rounds];
  prefix.rest.add(prefix.sum, prefix.top);
  add_of_any_windows(prefix.rest, ring, read, span);
  prefix.rest.normalize();
  const int top = shared.window_top[span.round % window_rounds];
  if (prefix.lacks_remainders() && top + remainder_reach < shared.remainders.top)
    take_remainders<Size>(prefix, ring, span);
  if (!prefix.lacks_remainders() && warp::lane() == 0) shared.remainders.top = top;
  __syncwarp();
  prefix.flags |= tile_prefix.flags & remainder_flag;
  return open_window<Size>(prefix, top, tile_prefix.exponent,
                           (tile_prefix.flags & full_width_flag) != 0, shared.scratch_digits);
}

/// Leaves out the remainders of a round that has some, in windows up to `top`. Takes all remainders
/// after remainder_patience rounds without any. By a whole warp.
template <class Size>
__device__ __noinline__ void follow_remainders(RunningPrefix& prefix,
                                               const ExactAggregateRing& ring, LookbackSpan span,
                                               bool has_some, int top) {
  BlockMemoryOf<Size>& shared = BlockMemoryOf<Size>::own();
  TakenRemainders& remainders = shared.remainders;
  const std::uint32_t idle_rounds = has_some ? 0 : remainders.idle_rounds + 1;
  const int highest = prefix.lacks_remainders() ? max(remainders.top, top) : top;
  __syncwarp();
  if (warp::lane() == 0) {
    remainders.idle_rounds = idle_rounds;
    if (has_some) remainders.top = highest;
  }
  __syncwarp();
  if (has_some) prefix.flags |= remainder_flag;
  if (idle_rounds < remainder_patience) return;
  prefix.rest.add(prefix.sum, prefix.top);
  take_remainders<Size>(prefix, ring, span);
  prefix.sum = prefix.rest.take(prefix.top, shared.scratch_digits);
}

/// The resolver: finds the exclusive prefixes of a block's tiles by looking back, and chooses their
/// windows. By one warp.
template <class Size>
class TileResolver {
 public:
  __device__ TileResolver(const ExactAggregateRing& ring, const ExactCarry& carry)
      : ring_(ring), shared_(BlockMemoryOf<Size>::own()) {
    prefix_.rest.add(carry.digit);
    prefix_.has_rest = prefix_.rest.any();
    prefix_.flags = carry.flags;
    WarpSuperaccumulator{}.store(shared_.remainders.digit);
    __syncwarp();
    prefix_.top = prefix_.has_rest ? prefix_.rest.exponent() : no_exponent;
  }

  /// Chooses the windows of an array's first tiles, by the exponents of their segments. Those of a
  /// short array are kept: they hold the prefixes of as many elements of that magnitude.
  __device__ void choose_first_windows(std::uint64_t elements) {
    int exponent =
        warp::lane() < segment_warps() ? shared_.first_exponent[warp::lane()] : no_exponent;
    exponent = warp::reduce_xor(exponent, warp::Maximum{});
    // Prefixes grow for some rounds before windows are chosen by them.
    constexpr int least_growth = 7;
    constexpr int most_growth = 11;
    const int growth = 64 - leading_zeros(elements) + 3 - Size::headroom;
    const bool is_short = growth <= most_growth;
    const int above =
        exponent + Size::headroom + (is_short ? max(growth, least_growth) : least_growth);
    prefix_.top = top_of_at_least(max(prefix_.top + 3, above));
    prefix_.sum = WindowSum{};
    if (prefix_.has_rest) {
      open_window<Size>(prefix_, prefix_.top, exponent, false, shared_.scratch_digits);
      prefix_.has_rest = prefix_.rest.any();
    }
    for (std::uint32_t round = 0; round < window_lead; ++round)
      shared_.window_top[round] = prefix_.top;
    top_ = is_short ? prefix_.top : least_top;
  }

  /// Polls once for the aggregates of the round's span that are missing; tells whether any was.
  __device__ bool load(std::uint32_t round, LaneAggregates& read) const {
    const LookbackSpan span{round, ring_.blocks};
    const std::uint32_t now = ring_.epoch(round);
    const std::uint32_t before = ring_.epoch(round - 1);
    const AggregateWord* const words_now = ring_.words + 2 * ring_.place(round, 0);
    const AggregateWord* const words_before = ring_.words + 2 * ring_.place(round - 1, 0);
    bool missing = false;
#pragma unroll
    for (int i = 0; i < LaneAggregates::count; ++i) {
      const std::uint32_t block = span.block_of(i);
      const bool in_round = block < blockIdx.x;
      if (span.contains(block) && read.word[i].epoch != (in_round ? now : before)) {
        missing = true;
        read.word[i] =
            load_whole((in_round ? words_now : words_before) + i * warp::lanes + warp::lane());
      }
    }
    return warp::any(missing);
  }

  /// Waits for the aggregates that load() has not read, adds them, and stores the tile's prefix.
  __device__ void resolve(std::uint32_t round, LaneAggregates& read) {
    while (load(round, read)) {
    }
    TilePrefix& tile_prefix = shared_.tile_prefix[round % slot_rounds];
    const LookbackSpan span{round, ring_.blocks};
    // The aggregates' flags; full_width_flag also where windows differ.
    std::uint32_t flags =
        tile_prefix.flags |
        (shared_.window_top[round % window_rounds] == prefix_.top ? 0 : full_width_flag);
    if (span.has_lead_word()) {
#pragma unroll
      for (int i = 0; i < LaneAggregates::count; ++i) {
        const std::uint32_t header = read.word[i].part[2];
        flags |= header & ~header_window_mask;
        const bool other_window = (header & header_window_mask) != header_of(prefix_.top);
        if (span.contains(span.block_of(i)) && other_window) flags |= full_width_flag;
      }
    }
    flags = warp::combined_bits(flags);
    prefix_.flags |= flags & any_non_finite;
    bool reopened = false;
    // Copies: an object passed by reference to a call lies in local memory everywhere.
    if (((flags | prefix_.flags) & remainder_flag) != 0) {
      RunningPrefix prefix = prefix_;
      follow_remainders<Size>(prefix, shared_.ring, span, (flags & remainder_flag) != 0,
                              highest_top(read));
      prefix_ = prefix;
      prefix_.has_rest = prefix.rest.any();
    }
    if ((flags & full_width_flag) != 0 || !add(span, read, (flags & lower_slices_flag) != 0)) {
      RunningPrefix prefix = prefix_;
      const LaneAggregates all = read;
      // The first tiles' windows are higher than those needed later.
      if (round > 2 * window_lead) others_top_ = max(others_top_, highest_top(read));
      reopened = resolve_slow_path<Size>(prefix, shared_.ring, all, span);
      prefix_ = prefix;
      prefix_.has_rest = prefix.rest.any();
    }
    store_tile_prefix(tile_prefix, reopened);
  }

  /// Chooses the window of a round's tile by the tile of round `known`, which is resolved, and by
  /// the windows of other blocks, so that few differ.
  __device__ void choose_window(std::uint32_t round, std::uint32_t known) {
    constexpr int too_high = 24;
    const TilePrefix& tile_prefix = shared_.tile_prefix[known % slot_rounds];
    const int needed =
        top_of_at_least(max(max(prefix_.sum.exponent(prefix_.top), tile_prefix.round_exponent) + 3,
                            tile_prefix.exponent + Size::headroom + 2));
    const auto unless_too_high = [&](int top) { return top > needed + too_high ? needed : top; };
    const int own = (tile_prefix.flags & full_width_flag) != 0 ? needed : unless_too_high(top_);
    top_ = max(needed, max(own, unless_too_high(others_top_)));
    others_top_ = least_top;
    if (warp::lane() == 0) shared_.window_top[round % window_rounds] = top_;
  }

 private:
  /// Returns the top of the highest window of the aggregates.
  __device__ static int highest_top(const LaneAggregates& read) {
    std::uint32_t highest = 0;
    if (LookbackSpan::has_lead_word())
#pragma unroll
      for (const AggregateWord& word : read.word) highest = max(highest, word.part[2]);
    return top_of(warp::maximum(highest));
  }

  /// Adds aggregates of the prefix's window, unless the sum does not fit it; tells whether it did.
  __device__ bool add(const LookbackSpan& span, const LaneAggregates& read, bool more_slices) {
    WordSums own{};
#pragma unroll
    for (const AggregateWord& word : read.word) own.add(word);
    WordSums lower{};
    if (more_slices) {
      lower = sum_lower_aggregate_words(shared_.ring, span);
    }
    WindowSum sum = sum_of_words(own, lower, more_slices);
    sum.add(prefix_.sum);
    sum.normalize();
    constexpr std::int64_t limit = std::int64_t{1} << (top_slice_bits - 1);
    if (sum.slice[0] >= limit || sum.slice[0] < -limit) return false;
    prefix_.sum = sum;
    return true;
  }

  __device__ void store_tile_prefix(TilePrefix& tile_prefix, bool reopened) {
    if (warp::lane() < segment_warps()) {
      SegmentPrefix& segment = tile_prefix.segment[warp::lane()];
      WindowSum units = prefix_.sum;
      if (!reopened) {
        units.add(segment.sum);
        units.normalize();
      }
      segment.sum = units;
      segment.flags |= prefix_.flags & any_non_finite;
      if (reopened || (prefix_.flags & any_non_finite) != 0)
        segment.error = slow_path;
      else if (prefix_.lacks_remainders() && segment.error != slow_path)
        segment.error = remainder_error;
    }
    const std::uint32_t lacking =
        (prefix_.has_rest ? rest_flag : 0) | (prefix_.flags & remainder_flag);
    if (lacking != 0) {
      WarpSuperaccumulator rest = prefix_.rest;
      if (prefix_.lacks_remainders()) {
        rest.subtract(shared_.remainders.digit);
        rest.normalize();
      }
      rest.store(tile_prefix.rest);
    }
    if (warp::lane() == 0) {
      tile_prefix.top = prefix_.top;
      tile_prefix.reopened = reopened;
      tile_prefix.lacking = lacking;
    }
    __syncwarp();
  }

  const ExactAggregateRing ring_;
  BlockMemoryOf<Size>& shared_;
  RunningPrefix prefix_{};
  int top_ = least_top;         ///< top of the window chosen last
  int others_top_ = least_top;  ///< the highest of other blocks
};

}  // namespace warpfold::cuda::kernels
