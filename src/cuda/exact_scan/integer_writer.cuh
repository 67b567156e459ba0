#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "cuda/exact_scan/element.cuh"
#include "cuda/exact_scan/integer_writer_slow_path.cuh"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/segment_store.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels::integers {

/// The writer: replaces a segment's elements by their prefixes and stores these. By the whole warp.
template <class In, class Out>
class SegmentWriter {
 public:
  using Layout = SegmentLayout<In, Out>;

  /// `array` is a parameter of the kernel: there it takes no registers.
  __device__ explicit SegmentWriter(const ScannedArray& array)
      : array_(array),
        shared_(BlockMemoryOf<Layout>::own()),
        memory_(shared_.segment[warp::index()]) {}

  /// Writes the prefixes of the segment of the round's tile, which is resolved.
  __device__ void write(std::uint32_t round, std::uint32_t tile) {
    const std::uint32_t slot = round % slot_rounds;
    const TilePrefix& tile_prefix = shared_.tile_prefix[slot];
    bool written = false;
    bool overwritten = false;
    // If prefixes were uncertain, the next ones mostly are, too.
    if (tile_prefix.segment[warp::index()].error != slow_path &&
        (uncertain_ < 4 || uncertain_ % 32 == 0))
      written = array_.exclusive ? write_aligned<true>(round, tile_prefix, overwritten)
                                 : write_aligned<false>(round, tile_prefix, overwritten);
    uncertain_ = written ? 0 : uncertain_ + 1;
    if (!written) {
      const bool tries_units = units_fail_ < 4 || units_fail_ % 32 == 0;
      const bool by_units =
          write_segment_exactly<In, Out>(array_, round, tile, overwritten, tries_units);
      units_fail_ = by_units ? 0 : units_fail_ + 1;
    }
    __syncwarp();
    start_store<In, Out>(array_, memory_.slot[slot], tile);
  }

 private:
  using Summed = typename Layout::Summed;
  using Placed = typename Layout::Placed;
  using InBits = typename Layout::InBits;
  using OutBits = typename Layout::OutBits;
  using Parts = ElementParts<In>;
  using Number = std::conditional_t<std::is_same_v<Out, double>, uint128, std::uint64_t>;

  /// Replaces the slot's elements by their prefixes, where the sums of lanes are known and all
  /// prefixes have the sign of what is before them and its exponent or an adjacent one; tells
  /// whether they do, and prefixes are certain. A prefix is the significand of the output
  /// element and 32 bits below, with an error of up to a unit of these for each element.
  template <bool Exclusive>
  __device__ bool write_aligned(std::uint32_t round, const TilePrefix& tile_prefix,
                                bool& overwritten) {
    const std::uint32_t slot = round % slot_rounds;
    const SegmentAggregate& aggregate = memory_.aggregate_of(round);
    WindowSum before = tile_prefix.segment[warp::index()].sum;
    const auto negative = static_cast<std::int32_t>(before.slice[0] >> 63);
#pragma unroll
    for (int i = 0; i < 3; ++i) before.slice[i] ^= i == 0 ? negative : negative & slice_mask;
    const int zeros = leading_zeros(static_cast<std::uint64_t>(before.slice[0]));
    uint128 leading = (static_cast<uint128>(before.slice[0]) << slice_bits |
                       static_cast<uint128>(before.slice[1]))
                          << 33 |
                      static_cast<uint128>(before.slice[2] >> 11);
    leading <<= min(zeros, 63) - (64 - top_slice_bits);
    const int own_exponent = slice_unit(tile_prefix.top, 0) + 63 - zeros;
    // The binary orders that the segment's elements can move prefixes by.
    const int reach = aggregate.exponent + Layout::segment_bits - own_exponent + 63;
    const auto mantissa = static_cast<std::uint64_t>(leading >> 64);
    const auto up = ~mantissa >> min(max(reach, 0), 63) == 0;
    const auto down = mantissa << 1 >> 1 >> min(max(reach, 0), 63) == 0;
    const int exponent = own_exponent - (down && mantissa >> 62 == 2 ? 1 : 0);
    const IntegerRounding<Out> rounding(array_);
    const int fraction_bits = rounding.fraction_bits();
    const int unit = exponent - fraction_bits - 32;
    const int below = unit - aggregate.lane_unit;
    // Lanes and the window lack less than a unit each.
    const bool resolved =
        below >= (aggregate.lanes_are_cut ? Layout::segment_bits : -64) &&
        (!tile_prefix.lacks_remainders() || unit >= slice_unit(tile_prefix.top, 1));
    if (aggregate.lane_unit == no_unit || zeros > 50 || aggregate.exponent > exponent - 3 ||
        !resolved || exponent <= -rounding.bias() || exponent >= rounding.bias() - 1)
      return false;
    int128 lanes_below = memory_.lane_units[slot][warp::lane()];
    if (negative != 0) lanes_below = -lanes_below;
    lanes_below = below >= 0 ? lanes_below >> min(below, 127) : lanes_below << -below;
    const auto first = static_cast<Number>((leading >> (127 - (own_exponent - unit))) +
                                           static_cast<uint128>(lanes_below));
    const bool lowest = unit <= 2 - Parts::bias;
    const Aligned aligned{first, unit, exponent, negative};
    overwritten = true;
    return up || down ? write_from<Exclusive, true, true>(slot, aligned, rounding)
           : lowest   ? write_from<Exclusive, true, false>(slot, aligned, rounding)
                      : write_from<Exclusive, false, false>(slot, aligned, rounding);
  }

  /// A prefix in units of 2^unit, without its sign.
  struct Aligned {
    Number sum;
    int unit;
    int exponent;  ///< the least of prefixes
    std::int32_t negative;
  };

  /// `Lowest`: elements may be subnormal. `Crossing`: prefixes may have the next exponent.
  template <bool Exclusive, bool Lowest, bool Crossing>
  __device__ bool write_from(std::uint32_t slot, const Aligned& aligned,
                             const IntegerRounding<Out>& rounding) {
    constexpr std::uint32_t error = Layout::lane_elements + 5;
    constexpr int head_place = sizeof(Number) == 16 ? 64 : 32;
    const int fraction_bits = rounding.fraction_bits();
    const std::uint32_t head = 1u << (fraction_bits + 32 - head_place);
    const auto signed_field = [&](int exponent) {
      return (static_cast<std::uint64_t>(exponent + rounding.bias() - 1) << fraction_bits) |
             std::uint64_t{aligned.negative != 0} << (8 * sizeof(OutBits) - 1);
    };
    const auto rounder_of = [&](int exponent) {
      return static_cast<Number>(signed_field(exponent)) << 32 |
             static_cast<Number>((1u << 31) + error);
    };
    const Number rounder = rounder_of(aligned.exponent);
    const Number next_rounder = rounder_of(aligned.exponent + 1);
    const std::int32_t negative = aligned.negative;
    const int last_field = aligned.unit + head_place + 30 + Parts::bias;
    Number sum = aligned.sum;
    std::uint32_t greatest = 0;
    std::uint32_t least = ~0u;
    const auto prefix_after = [&](InBits bits) {
      const Parts parts(bits);
      const auto add = [&] {
        sum += shifted(parts.template aligned<Lowest>(parts.sign_mask() ^ negative),
                       static_cast<std::uint32_t>(last_field - parts.template field_of<Lowest>()));
      };
      if constexpr (!Exclusive) add();
      const std::uint32_t above = static_cast<std::uint32_t>(sum >> head_place) - head;
      const Number rounded = Crossing && above >= head ? (sum >> 1) + next_rounder : sum + rounder;
      greatest = max(greatest, above);
      least = min(least, static_cast<std::uint32_t>(rounded));
      if constexpr (Exclusive) add();
      return static_cast<OutBits>(rounded >> 32);
    };
    replace_elements<In, Out>(memory_.slot[slot], prefix_after);
    return warp::all(greatest < (Crossing ? 3 : 1) * head && least > error);
  }

  /// Returns a significand, 2^32 times as much if Number has 128 bits, over 2^by.
  __device__ static Number shifted(std::int64_t significand, std::uint32_t by) {
    const std::int64_t upper = shifted_right(significand, by);
    if constexpr (sizeof(Number) == sizeof(std::int64_t)) {
      return static_cast<Number>(upper);
    } else {
      const std::uint32_t lower =
          by < 32 ? __funnelshift_r(0, static_cast<std::uint32_t>(significand), by)
                  : static_cast<std::uint32_t>(shifted_right(significand, by - 32));
      return static_cast<Number>(static_cast<int128>(upper)) << 32 | lower;
    }
  }

  const ScannedArray& array_;
  BlockMemoryOf<Layout>& shared_;
  SegmentMemory<Layout::vectors>& memory_;
  unsigned uncertain_ = 0;   ///< segments in a row whose prefixes were
  unsigned units_fail_ = 0;  ///< segments in a row that the units of lanes were not enough for
};

}  // namespace warpfold::cuda::kernels::integers
