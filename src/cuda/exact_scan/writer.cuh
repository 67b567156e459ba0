#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/segment_store.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/exact_scan/slot.cuh"
#include "cuda/exact_scan/window.cuh"
#include "cuda/exact_scan/writer_slow_path.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

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
    const std::int32_t error = tile_prefix.segment[warp::index()].error;
    if (error != slow_path) {
      // If prefixes were uncertain, the next ones mostly are, too.
      overwritten = uncertain_ < 4 || uncertain_ % 32 == 0;
      if (overwritten)
        written = array_.exclusive ? write_from_upper_slices<true>(round, tile_prefix, error)
                                   : write_from_upper_slices<false>(round, tile_prefix, error);
      uncertain_ = written ? 0 : uncertain_ + 1;
    }
    if (!written) write_segment_slow_path<In, Out>(array_, round, tile, overwritten);
    __syncwarp();
    start_store<In, Out>(array_, memory_.slot[slot], tile);
  }

 private:
  using Summed = typename Layout::Summed;
  using Placed = typename Layout::Placed;
  using InBits = typename Layout::InBits;
  using OutBits = typename Layout::OutBits;

  /// Replaces the slot's elements, which one slice holds, by their prefixes; tells whether these
  /// are certain. The multiple of a high power of two before them is the same for all of a lane's
  /// prefixes. The rest below a unit counts as half a unit: any part of one rounds alike, unless
  /// prefixes are small.
  template <bool Exclusive>
  __device__ bool write_from_one_slice(std::uint32_t round, const TilePrefix& tile_prefix) {
    const std::uint32_t slot = round % slot_rounds;
    const WindowSum& before = tile_prefix.segment[warp::index()].sum;
    const double2 below = memory_.lane_prefix[slot][warp::lane()];
    const int exponent = one_slice_exponent(memory_.aggregate_of(round).exponent, tile_prefix.top);
    const int unit = exponent - one_slice_bits;
    const double upper_bias = bias_of_unit(slice_unit(tile_prefix.top, 0));
    const double lower_bias = bias_of_unit(slice_unit(tile_prefix.top, 1));
    const double high_bias = bias_of_unit(exponent + 4);
    const double unit_bias = bias_of_unit(unit);
    const double half_bias = bias_of_unit(unit - 1);
    const double upper = (biased(upper_bias, before.slice[0]) - upper_bias) + below.x;
    const double lower = (biased(lower_bias, before.slice[1]) - lower_bias) + below.y;
    const double high = (upper + high_bias) - high_bias;
    const double whole = (lower + unit_bias) - unit_bias;
    const bool has_rest = tile_prefix.lacking != 0 || before.any_below(1) || lower != whole;
    double sum = half_bias + ((upper - high) + whole);
    if (has_rest) sum = biased(sum, lower < whole ? -1 : 1);
    const double high_less_bias = high - half_bias;
    const std::uint32_t first = magnitude_word(sum + high_less_bias);
    // All elements of a lane are below 2^(exponent + 5) together.
    constexpr int large = std::is_same_v<Out, double> ? 10 : 6;
    const bool certain = !has_rest || first >= power_word(exponent + large);
    const int spare_bits = exponent_above(first) + 1 - (unit - 1) - significand_bits<double>;
    const std::uint32_t mask = spare_bits > 0 ? (1u << spare_bits) - 1 : 0;
    const OutputRounding<Out> rounding(array_);
    const auto prefix_after = [&](InBits element) {
      const auto add = [&] { sum = Summed::added(sum, Placed::of(element)); };
      if constexpr (!Exclusive) add();
      const double kept = std::is_same_v<Out, double> ? sum : last_bits_to_odd(sum, mask);
      const OutBits prefix = rounding.bits_of(kept + high_less_bias);
      if constexpr (Exclusive) add();
      return prefix;
    };
    replace_elements<In, Out>(memory_.slot[slot], prefix_after);
    return warp::all(certain);
  }

  /// Replaces the slot's elements by their prefixes, computed in the upper two slices; tells
  /// whether these are certain. What is before may miss `error` units, or have them too much.
  template <bool Exclusive>
  __device__ bool write_from_upper_slices(std::uint32_t round, const TilePrefix& tile_prefix,
                                          std::int32_t error) {
    if constexpr (has_one_slice<In>)
      if (memory_.aggregate_of(round).slices == 1 && error == 0)
        return write_from_one_slice<Exclusive>(round, tile_prefix);
    const std::uint32_t slot = round % slot_rounds;
    const WindowSum before = tile_prefix.segment[warp::index()].sum;
    const SegmentAggregate& aggregate = memory_.aggregate_of(round);
    const bool more_before = tile_prefix.lacking != 0 || before.any_below(1);
    // Each element, those of the lanes below together, and what is before miss up to a unit.
    const int less = (aggregate.slices > 2 ? Layout::segment_elements / 2 + 2 : 0) + error;
    const int more = less + (more_before ? 2 : 0);
    const int top = tile_prefix.top - static_cast<int>(aggregate.scaled_by);
    bool certain = true;
    if (std::is_same_v<Out, double> && more == 0)
      write_from_two_slices<Exclusive, true>(slot, top, before, 0, 0);
    else
      certain = write_from_two_slices<Exclusive, false>(slot, top, before, more, less);
    if (std::is_same_v<Out, double> && aggregate.scaled_by != 0) {
      __syncwarp();
      upscale<Layout>(memory_.slot[slot]);
    }
    return certain;
  }

  template <bool Exclusive, bool Exact>
  __device__ bool write_from_two_slices(std::uint32_t slot, int top, const WindowSum& before,
                                        int more, int less) {
    const int unit = slice_unit(top, 1);
    const double upper_bias = bias_of_unit(slice_unit(top, 0));
    const double lower_bias = bias_of_unit(unit);
    const double2 below = memory_.lane_prefix[slot][warp::lane()];
    const double rest = (biased(lower_bias, before.slice[1]) - lower_bias) + below.y;
    const double carry = (rest + upper_bias) - upper_bias;
    double upper = (biased(upper_bias, before.slice[0]) + below.x) + carry;
    double lower = lower_bias + (rest - carry);
    const double most = biased(lower_bias, more) - 2 * lower_bias;
    const double least = biased(lower_bias, -less) - 2 * lower_bias;
    const OutputRounding<Out> rounding(array_);
    std::uint64_t differing = 0;
    const auto prefix_after = [&](InBits element) {
      const double placed = Placed::of(element);
      const auto add = [&] {
        const double sum = Summed::added(upper, placed);
        lower += Summed::rest(placed, sum - upper);
        upper = sum;
      };
      if constexpr (!Exclusive) add();
      const double high = upper - upper_bias;
      OutBits prefix;
      if constexpr (Exact) {
        prefix = rounding.up(high, lower - lower_bias);
      } else {
        prefix = rounding.up(high, lower + most);
        differing |= prefix ^ rounding.down(high, lower + least);
      }
      if constexpr (Exclusive) add();
      return prefix;
    };
    replace_elements<In, Out>(memory_.slot[slot], prefix_after);
    return Exact || !warp::any(differing != 0);
  }

  const ScannedArray& array_;
  BlockMemoryOf<Layout>& shared_;
  SegmentMemory<Layout::vectors>& memory_;
  unsigned uncertain_ = 0;  ///< segments in a row whose prefixes were
};

}  // namespace warpfold::cuda::kernels
