#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/scan/exact_again.cuh"
#include "cuda/scan/exact_elements.cuh"
#include "cuda/scan/exact_segment_port.cuh"
#include "cuda/scan/exact_shape.cuh"

namespace warpfold::cuda::kernels {

/// A lane of a warp that sums and writes segments.
template <class In, class Out>
class SegmentScanner {
 public:
  using Shape = ExactShape<In, Out>;

  /// `array` is a parameter of the kernel: there it takes no registers.
  __device__ explicit SegmentScanner(const ScannedArray& array)
      : array_(array), tile_(TileMemory<Shape>::own()), memory_(tile_.segment[warp::index()]) {}

  /// Tells the resolver what the first segment's finite elements are below, which arrived.
  __device__ void begin() {
    std::uint32_t highest = 0;
#pragma unroll 1
    for (int i = 0; i < Shape::in_vectors; ++i) {
      const auto elements =
          std::bit_cast<LaneElements<InBits, Shape::in_count>>(memory_.slot[0].of_warp(i));
#pragma unroll
      for (const InBits element : elements.element) {
        const std::uint32_t word = Placed::word(element);
        if (word < Placed::non_finite_word) highest = max(highest, word);
      }
    }
    tile_.first_exponent[warp::index()] = Summed::exponent_above(warp::maximum(highest));
  }

  /// Sums the segment of the round's tile, which arrived.
  __device__ void sum(std::uint32_t round) {
    const std::uint32_t slot = round % exact_slots;
    const int top = tile_.top[round % window_rounds];
    const int scaled = top > largest_top ? SegmentPort<In, Out>(array_).scale(slot) : 0;
    int slices = tries_one_slice(round) ? 1 : slices_;
    int summed_in = 0;
    std::uint32_t highest = 0;
    do {
      summed_in = slices;
      slices = has_one_slice && summed_in == 1 ? sum_in_slices<1>(round, top - scaled, highest)
               : summed_in == 2                ? sum_in_slices<2>(round, top - scaled, highest)
               : summed_in == 3                ? sum_in_slices<3>(round, top - scaled, highest)
                                : sum_in_slices<window_slices>(round, top - scaled, highest);
    } while (slices > summed_in && slices <= window_slices);
    const int exponent = Summed::exponent_above(highest);
    const bool finite = highest < Placed::non_finite_word;
    const bool summed = finite && slices <= window_slices &&
                        exponent <= top - scaled - Shape::room &&
                        (top <= largest_top || scaled != 0);
    slices_ = summed ? max(slices, 2) : 2;
    if (warp::lane() == warp::lanes - 1) {
      SegmentTotal& total = memory_.total_of(round);
      total.slices = slices;
      total.top = exponent + scaled;
      total.flags = 0;
      total.scaled_by = static_cast<std::uint32_t>(scaled);
    }
    if (!summed) sum_otherwise<In, Out>(round, finite);
  }

  /// Writes the prefixes of the segment of the round's tile.
  __device__ void write(std::uint32_t round, std::uint32_t tile) {
    const std::uint32_t slot = round % exact_slots;
    const TileStart& start = tile_.start[slot];
    bool written = false;
    bool tried = false;
    if (!start.segment[warp::index()].otherwise) {
      // Where prefixes were uncertain, the next ones are as a rule.
      tried = uncertain_ < 4 || uncertain_ % 32 == 0;
      if (tried)
        written = array_.exclusive ? write_in_upper<true>(round, start)
                                   : write_in_upper<false>(round, start);
      uncertain_ = written ? 0 : uncertain_ + 1;
    }
    if (!written) write_otherwise<In, Out>(array_, round, tile, tried);
    __syncwarp();
    SegmentPort<In, Out>(array_).store(round, tile);
  }

 private:
  using Summed = typename Shape::Summed;
  using Placed = typename Shape::Placed;
  using InBits = typename Shape::InBits;
  using OutBits = typename Shape::OutBits;

  /// Whether elements have few enough bits for one slice.
  static constexpr bool has_one_slice = !std::is_same_v<In, double>;
  /// What it holds: elements below 2^exponent, multiples of 2^(exponent - one_slice_bits).
  static constexpr int one_slice_bits = 44;

  /// An exponent of at least this whose slice is not far below the window's top.
  __device__ static int one_slice_exponent(int exponent, int top) {
    return max(exponent, top - 37);
  }

  /// Where one slice was enough for one of the last two segments, or now and then.
  __device__ bool tries_one_slice(std::uint32_t round) const {
    if (!has_one_slice || round < 2) return false;
    return round % 64 == 2 || memory_.total_of(round - 1).slices == 1 ||
           memory_.total_of(round - 2).slices == 1;
  }

  /// Returns how many slices hold the elements; more than `Count` where these don't.
  template <int Count>
  __device__ int sum_in_slices(std::uint32_t round, int top, std::uint32_t& highest) {
    const std::uint32_t slot = round % exact_slots;
    // One slice is one of a lower window, for elements that are hardly above the last ones.
    const int most = Count > 1 ? top - Shape::room
                               : one_slice_exponent(memory_.total_of(round - 1).top + 1, top);
    LaneSlices<In, Count> sum(Count > 1 ? top : most + lead_bits - one_slice_bits);
    std::uint64_t left = 0;
    std::uint64_t left_by_two = 0;
    std::uint64_t left_by_three = 0;
    std::uint32_t own_highest = 0;
    uint4 vectors[Shape::in_vectors];
#pragma unroll
    for (int j = 0; j < Shape::in_vectors; ++j)
      vectors[j] = memory_.slot[slot].template of_lane<Shape::in_vectors>(j);
#pragma unroll
    for (int j = 0; j < Shape::in_vectors; ++j) {
      const auto elements = std::bit_cast<LaneElements<InBits, Shape::in_count>>(vectors[j]);
#pragma unroll
      for (const InBits element : elements.element) {
        own_highest = max(own_highest, Placed::word(element));
        const double rest = sum.add(Placed::of(element), [&](int i, double by_slice) {
          if (i == 1 && Count > 2) left_by_two |= std::bit_cast<std::uint64_t>(by_slice);
          if (i == 2 && Count > 3) left_by_three |= std::bit_cast<std::uint64_t>(by_slice);
        });
        left |= std::bit_cast<std::uint64_t>(rest);
      }
    }
    highest = warp::maximum(own_highest);
    const double upper_bias = bias_of_unit(slice_unit(top, 0));
    const double lower_bias = bias_of_unit(slice_unit(top, 1));
    double upper = sum.biased[0] - sum.bias(0);
    double lower = 0.0;
    if constexpr (Count > 1) {
      lower = sum.biased[1] - sum.bias(1);
    } else {
      lower = upper;
      upper = (upper + upper_bias) - upper_bias;
      lower -= upper;
    }
    const double upper_through = warp::inclusive_scan(upper, warp::Plus{});
    const double lower_through = warp::inclusive_scan(lower, warp::Plus{});
    memory_.lanes_below[slot][warp::lane()] = {upper_through - upper, lower_through - lower};
    std::int64_t units[window_slices] = {};
#pragma unroll
    for (int i = 2; i < Count; ++i) {
      const std::int64_t own = units_of(sum.bias(i), sum.biased[i]);
      if (i == 2) memory_.lane_third[slot][warp::lane()] = own;
      units[i] = warp::reduce_xor(own, warp::Plus{});
    }
    if (warp::lane() == warp::lanes - 1) {
      const double carry = (lower_through + upper_bias) - upper_bias;
      units[0] = units_of(upper_bias, upper_bias + (upper_through + carry));
      units[1] = units_of(lower_bias, lower_bias + (lower_through - carry));
#pragma unroll
      for (int i = 0; i < window_slices; ++i) memory_.total_of(round).units.slice[i] = units[i];
    }
    const auto any = [](std::uint64_t bits) { return warp::any(bits << 1 != 0); };
    if (Count == 1) return any(left) || Summed::exponent_above(highest) > most ? 2 : 1;
    if (any(left)) return Count == 2 ? 3 : Count == 3 ? window_slices : window_slices + 1;
    if (Count > 3 && any(left_by_three)) return window_slices;
    return Count > 2 && any(left_by_two) ? 3 : 2;
  }

  /// Replaces the slot's elements, which one slice holds, by their prefixes; tells whether these
  /// are certain. What is a multiple of a high power of two is the same for all of a lane's
  /// prefixes, the rest below a unit counts as half of one: any part of one rounds alike, unless
  /// prefixes are small.
  template <bool Exclusive>
  __device__ bool write_in_one(std::uint32_t round, const TileStart& start) {
    const std::uint32_t slot = round % exact_slots;
    const WindowUnits& before = start.segment[warp::index()].units;
    const double2 below = memory_.lanes_below[slot][warp::lane()];
    const int exponent = one_slice_exponent(memory_.total_of(round).top, start.top);
    const int unit = exponent - one_slice_bits;
    const double upper_bias = bias_of_unit(slice_unit(start.top, 0));
    const double lower_bias = bias_of_unit(slice_unit(start.top, 1));
    const double high_bias = bias_of_unit(exponent + 4);
    const double unit_bias = bias_of_unit(unit);
    const double half_bias = bias_of_unit(unit - 1);
    const double upper = (biased(upper_bias, before.slice[0]) - upper_bias) + below.x;
    const double lower = (biased(lower_bias, before.slice[1]) - lower_bias) + below.y;
    const double high = (upper + high_bias) - high_bias;
    const double whole = (lower + unit_bias) - unit_bias;
    const bool any_rest = start.any_rest || before.any_below(1) || lower != whole;
    double sum = half_bias + ((upper - high) + whole);
    if (any_rest) sum = biased(sum, lower < whole ? -1 : 1);
    const double high_less_bias = high - half_bias;
    const std::uint32_t first = magnitude_word(sum + high_less_bias);
    // All elements of a lane are below 2^(exponent + 5) together.
    constexpr int large = std::is_same_v<Out, double> ? 10 : 6;
    const bool certain = !any_rest || first >= power_word(exponent + large);
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

  /// Replaces the slot's elements by their prefixes; tells whether these are certain.
  template <bool Exclusive>
  __device__ bool write_in_upper(std::uint32_t round, const TileStart& start) {
    if constexpr (has_one_slice)
      if (memory_.total_of(round).slices == 1) return write_in_one<Exclusive>(round, start);
    const std::uint32_t slot = round % exact_slots;
    const WindowUnits before = start.segment[warp::index()].units;
    const SegmentTotal& total = memory_.total_of(round);
    const bool more_before = start.any_rest || before.any_below(1);
    // Each element, those of the lanes below together, and what is before miss up to a unit.
    const int less = total.slices > 2 ? Shape::segment_elements / 2 + 2 : 0;
    const int more = less + (more_before ? 2 : 0);
    const int top = start.top - static_cast<int>(total.scaled_by);
    bool certain = true;
    if (std::is_same_v<Out, double> && more == 0)
      write_in_two<Exclusive, true>(slot, top, before, 0, 0);
    else
      certain = write_in_two<Exclusive, false>(slot, top, before, more, less);
    if (std::is_same_v<Out, double> && total.scaled_by != 0) {
      __syncwarp();
      unscale<Shape>(memory_.slot[slot]);
    }
    return certain;
  }

  template <bool Exclusive, bool Exact>
  __device__ bool write_in_two(std::uint32_t slot, int top, const WindowUnits& before, int more,
                               int less) {
    const int unit = slice_unit(top, 1);
    const double upper_bias = bias_of_unit(slice_unit(top, 0));
    const double lower_bias = bias_of_unit(unit);
    const double2 below = memory_.lanes_below[slot][warp::lane()];
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
  TileMemory<Shape>& tile_;
  SegmentMemory<Shape::vectors>& memory_;
  int slices_ = 2;          ///< that the last segment took
  unsigned uncertain_ = 0;  ///< how many segments in a row were
};

}  // namespace warpfold::cuda::kernels
