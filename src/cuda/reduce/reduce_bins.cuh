#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/reduce/reduce_elements.cuh"
#include "cuda/reduce/reduce_far_digits.cuh"
#include "cuda/reduce/reduce_float_slices.cuh"
#include "cuda/reduce/reduce_non_finite.cuh"

namespace warpfold::cuda::kernels {

/// Binary orders that one bin of a thread collects.
inline constexpr int bin_orders = 16;

/// +-2^shift, with the sign of a float's upper word.
__device__ inline std::int32_t signed_power(std::uint32_t word, std::uint32_t shift) {
  return (static_cast<std::int32_t>(word) >> 31 | 1) << shift;
}

/// Adds the product of two integers, by one instruction.
__device__ inline void add_product(std::int64_t& sum, std::int32_t a, std::int32_t b) {
  sum += static_cast<std::int64_t>(a) * b;
}

/// Returns the significand of a float, or the upper part of a double's, with its leading bit. As an
/// instruction, which takes one constant: the other one stays in a register.
template <int FractionBits>
__device__ std::uint32_t significand_of(std::uint32_t word) {
  constexpr std::uint32_t leading = 1u << FractionBits;
#ifdef __CUDACC__
  std::uint32_t significand;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;"
      : "=r"(significand)
      : "r"(word), "n"(leading - 1), "r"(leading));
  return significand;
#else
  return (word & (leading - 1)) | leading;
#endif
}

/// In each lane: the sums of all lanes' lower and upper words, so that neither overflows.
struct LaneSums {
  std::int64_t low = 0;
  std::int64_t high = 0;

  __device__ void add(std::int64_t value) {
    low += static_cast<std::uint32_t>(value);
    high += value >> 32;
  }

  /// Adds them, times 2^exponent, to a number that other threads add to. By all lanes of the warp.
  __device__ void add_to(ExactSum& number, int exponent) const {
    if (!warp::any((low | high) != 0)) return;
    const std::int64_t all_low = warp::reduce_xor(low, warp::Plus{});
    const std::int64_t all_high = warp::reduce_xor(high, warp::Plus{});
    if (warp::lane() == 0) add_scaled(all_low, exponent, number);
    if (warp::lane() == 1) add_scaled(all_high, exponent + 32, number);
  }
};

/// A thread's exact sum of floats without FP64 arithmetic: integers in shared memory, one for each
/// 16 binary orders. An element is a significand of 24 bits times 2^0 to 2^15 of its bin's unit, so
/// that a bin takes 2^24 of them, more than a thread meets in a launch. Slices of FP32 take tiles
/// of fewer orders, in half the time.
template <class T>
class BinnedSums : public SumsWithoutWindow<T> {
  static_assert(std::is_same_v<T, float>);
  static constexpr int bins = 256 / bin_orders;

 public:
  struct Shared {
    std::int64_t bin[bins][reduce_threads];
  };
  static constexpr std::uint32_t settle_tiles = std::uint32_t{1} << 16;

  __device__ BinnedSums(BlockTotals& block, Shared& shared)
      : block_(block), shared_(shared), own_(threadIdx.x) {
#pragma unroll
    for (int b = 0; b < bins; ++b) shared_.bin[b][own_] = 0;
  }

  template <class Take>
  __device__ void take(Take take) {
    take(*this);
  }

  /// Chooses the slices for the warp's first tile. By all threads of the block.
  __device__ void open(const ThreadTile<T>& tile, bool) {
    slices_.open(exponent_above(tile));
    __syncthreads();
  }

  /// Takes the tile by slices if they hold it. Else counts elements that are not finite, and makes
  /// them zero. By all lanes of the warp.
  __device__ void extract_outliers(ThreadTile<T>& tile, const ThreadShare<T>& share) {
    sliced_ = skipped_ == 0 && add_to_slices(tile);
    if (skipped_ != 0)
      --skipped_;
    else if (__popc(warp::ballot(!sliced_)) > many_lanes)
      reconsider(tile);
    if (sliced_) return;
    const auto elements = tile.elements();
    float nothing = 0;  // until an infinity or a NaN comes
#pragma unroll
    for (unsigned i = 0; i < ThreadTile<T>::size; ++i)
      nothing = std::fmaf(elements[i], 0.0f, nothing);
    if (nothing != 0) tile.keep(~count_non_finite(tile, share, block_));
  }

  /// Adds the tile to the bins, unless slices took it.
  __device__ void add(const ThreadTile<T>& tile) {
    if (sliced_) return;
    const auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < ThreadTile<T>::size; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(elements[i]);
      const std::uint32_t magnitude = bits & 0x7fffffffu;
      // A subnormal number has the unit of exponent 1: twice as much of that of exponent 0.
      const std::uint32_t significand =
          magnitude >> fraction_bits == 0 ? 2 * magnitude : significand_of<fraction_bits>(bits);
      add_product(shared_.bin[magnitude >> 27][own_], static_cast<std::int32_t>(significand),
                  signed_power(bits, (bits >> fraction_bits) % bin_orders));
    }
  }

  __device__ void settle(const ThreadShare<T>&) {}

  /// Adds the sums to the block's. By all threads of the block.
  __device__ void flush(Accumulator&) {
    move_to_bins();
    __syncthreads();
    for (int b = warp::index(); b < bins; b += reduce_warps) {
      LaneSums sums;
      for (int thread = warp::lane(); thread < reduce_threads; thread += warp::lanes)
        sums.add(shared_.bin[b][thread]);
      sums.add_to(block_.sum, bin_orders * b + lowest);
    }
  }

 private:
  static constexpr int fraction_bits = 23;
  static constexpr int lowest = -150;  ///< exponent of the first bin's unit
  static constexpr int many_lanes = warp::lanes / 4;

  /// Returns an exponent that the warp's finite elements stay below.
  __device__ static int exponent_above(const ThreadTile<T>& tile) {
    std::uint32_t greatest = 0;
    tile.visit([&](T element, unsigned) {
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(element) & 0x7fffffffu;
      if (magnitude < infinity_bits<T> && magnitude > greatest) greatest = magnitude;
    });
    return static_cast<int>(warp::maximum(greatest) >> fraction_bits) - 126;
  }

  __device__ bool add_to_slices(const ThreadTile<T>& tile) {
    std::uint32_t bits[FloatSlices::count];
    const bool exact = slices_.sum(tile, bits);
    if (!exact) return false;
#pragma unroll
    for (int k = 0; k < FloatSlices::count; ++k) sum_[k] += bits[k];
    ++tiles_;
    return true;
  }

  /// Chooses other slices for such tiles; if there are none, omits slices for a while. By all lanes
  /// of the warp.
  __device__ void reconsider(const ThreadTile<T>& tile) {
    FloatSlices other = slices_;
    if (other.open(exponent_above(tile))) {
      move_to_bins();
      slices_ = other;
    } else {
      skipped_ = 32;
    }
  }

  /// Moves the slices' sums, of less than 2^22 units a tile, to the bins.
  __device__ void move_to_bins() {
#pragma unroll
    for (int k = 0; k < FloatSlices::count; ++k) {
      const auto units =
          static_cast<std::int64_t>(sum_[k] - std::uint64_t{tiles_} * slices_.empty(k));
      const int place = slices_.unit(k) - lowest;
      shared_.bin[place / bin_orders][own_] += units * (std::int64_t{1} << place % bin_orders);
      sum_[k] = 0;
    }
    tiles_ = 0;
  }

  BlockTotals& block_;
  Shared& shared_;
  std::uint32_t own_;  ///< the thread in its block
  FloatSlices slices_;
  std::uint64_t sum_[FloatSlices::count] = {};  ///< sums of the bits of tiles
  std::uint32_t tiles_ = 0;                     ///< tiles of these sums
  std::uint32_t skipped_ = 0;                   ///< tiles before slices are tried again
  bool sliced_ = false;                         ///< whether the slices took the tile
};

/// The same for doubles: of bins of 16 orders a warp has as many as shared memory holds, from some
/// exponent on. Elements outside go to digits that the threads of the block share.
template <>
class BinnedSums<double> : public SumsWithoutWindow<double> {
  static constexpr int bins = 9;
  static constexpr int orders = bins * bin_orders;
  static constexpr int non_finite_field = 0x7ff;
  using Tile = ThreadTile<double>;

 public:
  /// A thread's sum of the lower words of significands, and of the rest, in units 2^32 as great.
  struct Bin {
    std::int64_t low;
    std::int64_t high;
  };
  struct Shared {
    alignas(16) Bin bin[bins][reduce_threads];
    FarDigits far;
    int first[reduce_warps];
  };
  static constexpr std::uint32_t settle_tiles = FarDigits::most_of_thread / Tile::size;

  __device__ BinnedSums(BlockTotals& block, Shared& shared)
      : block_(block), shared_(shared), own_(threadIdx.x) {
#pragma unroll
    for (int b = 0; b < bins; ++b) shared_.bin[b][own_] = {};
    shared_.far.clear();
  }

  /// Chooses the bins for the block whose threads start with these tiles. By all of its threads.
  __device__ void open(const Tile& tile, bool has_tile) {
    const int first = has_tile ? first_below(tile, non_finite_field) : lowest;
    if (warp::lane() == 0) shared_.first[warp::index()] = first;
    __syncthreads();
    set_first(first_of_block());
  }

  template <class Take>
  __device__ void take(Take take) {
    take(*this);
  }

  /// Makes elements zero that the bins do not hold, having counted them or added them elsewhere. By
  /// all lanes of the warp.
  __device__ void extract_outliers(Tile& tile, const ThreadShare<double>& share) {
    std::uint32_t outside = 0;
    const auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < Tile::size; ++i) {
      const Words x = words_of(elements[i]);
      if (!holds(x)) outside |= x.magnitude() | x.low;
    }
    if (warp::any(outside != 0)) extract_outside(tile, share);
  }

  __device__ void add(const Tile& tile) {
    if (first_ == lowest)
      add_to_bins<true>(tile);
    else
      add_to_bins<false>(tile);
  }

  /// Moves what may overflow to the block's sums. By all lanes of the warp.
  __device__ void settle(const ThreadShare<double>& share) {
    if (far_) shared_.far.move_to(block_.sum);
    far_ = false;
    if (!share.at_end() && share.is_due(flush_tiles)) flush_bins();
  }

  /// Adds the sums to the block's. By all threads of the block.
  __device__ void flush(Accumulator&) {
    const int first = first_of_block();
    if (first_ != first) flush_bins();
    __syncthreads();
    for (int part = warp::index(); part < 2 * bins; part += reduce_warps) {
      LaneSums sums;
      for (int thread = warp::lane(); thread < reduce_threads; thread += warp::lanes) {
        const Bin& bin = shared_.bin[part / 2][thread];
        sums.add(part % 2 == 0 ? bin.low : bin.high);
      }
      sums.add_to(block_.sum, exponent_of(first, part / 2) + part % 2 * 32);
    }
  }

 private:
  static constexpr int lowest = 0;
  static constexpr int highest = non_finite_field - orders;
  /// A bin takes 2^17 lower words of up to 2^31 times 2^15.
  static constexpr std::uint32_t flush_tiles = (std::uint32_t{1} << 16) / Tile::size;

  struct Words {
    std::uint32_t high;
    std::uint32_t low;

    __device__ std::uint32_t magnitude() const { return high & 0x7fffffffu; }
    __device__ int field() const { return static_cast<int>(magnitude() >> 20); }
    __device__ bool is_zero() const { return (magnitude() | low) == 0; }
  };

  __device__ static Words words_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits)};
  }

  __device__ bool holds(const Words& x) const {
    return x.magnitude() - first_word_ < std::uint32_t{orders} << 20;
  }

  __device__ static int exponent_of(int first, int bin) { return first - 1075 + bin_orders * bin; }

  /// With the lowest bins, elements may be subnormal. They have the unit of exponent 1, which is
  /// twice that of exponent 0.
  template <bool Lowest>
  __device__ void add_to_bins(const Tile& tile) {
    const auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < Tile::size; ++i) {
      const Words x = words_of(elements[i]);
      const std::uint32_t above = x.magnitude() - first_word_;
      const bool zero = !holds(x);
      const bool subnormal = Lowest && x.field() == 0;
      const std::uint32_t shift = subnormal ? 1 : (above >> 20) % bin_orders;
      const std::int32_t power = zero ? 0 : signed_power(x.high, shift);
      // The lower word counts as a signed one.
      const std::uint32_t high =
          (subnormal ? x.magnitude() : significand_of<20>(x.high)) + (x.low >> 31);
      Bin& own = shared_.bin[zero ? 0 : above >> 24][own_];
      Bin sum = own;
      add_product(sum.low, static_cast<std::int32_t>(x.low), power);
      add_product(sum.high, static_cast<std::int32_t>(high), power);
      own = sum;
    }
  }

  __device__ void set_first(int first) {
    first_ = first;
    first_word_ = static_cast<std::uint32_t>(first) << 20;
  }

  __device__ int first_of_block() const {
    int first = lowest;
#pragma unroll
    for (const int of_warp : shared_.first) first = of_warp > first ? of_warp : first;
    return first;
  }

  /// Returns the first exponent of bins whose last but one is the greatest of the warp's below
  /// `end`. By all lanes of the warp.
  __device__ static int first_below(const Tile& tile, int end) {
    std::uint32_t greatest = 0;
    tile.visit([&](double element, unsigned) {
      const int field = words_of(element).field();
      if (field < end && field > static_cast<int>(greatest)) greatest = field;
    });
    const int first = static_cast<int>(warp::maximum(greatest)) + 2 - orders;
    return first < lowest ? lowest : first > highest ? highest : first;
  }

  __device__ std::uint32_t outside_of(const Tile& tile) const {
    std::uint32_t outside = 0;
    tile.visit<Tile::vectors>([&](double element, unsigned i) {
      const Words x = words_of(element);
      outside |= holds(x) || x.is_zero() ? 0u : 1u << i;
    });
    return outside;
  }

  __device__ static bool has_non_finite(const Tile& tile) {
    bool any = false;
    tile.visit<Tile::vectors>(
        [&](double element, unsigned) { any |= words_of(element).field() == non_finite_field; });
    return any;
  }

  __device__ void extract_outside(Tile& tile, const ThreadShare<double>& share) {
    constexpr int many = warp::lanes * static_cast<int>(Tile::size) / 8;
    if (has_non_finite(tile)) tile.keep(~count_non_finite(tile, share, block_));
    std::uint32_t outside = outside_of(tile);
    const int all = warp::reduce_xor(__popc(outside), warp::Plus{});
    if (all == 0) return;
    if (stay_ != 0) {
      --stay_;
    } else if (all > many) {
      move(tile, all);
      outside = outside_of(tile);
    }
    const auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < Tile::size; ++i)
      if ((outside >> i & 1) != 0) shared_.far.add(std::bit_cast<std::uint64_t>(elements[i]));
    tile.keep(~outside);
    far_ = true;
  }

  /// Moves the bins to where fewer elements are outside, if there is such a place; they then stay
  /// for a while. By all lanes of the warp.
  __device__ void move(const Tile& tile, int outside) {
    constexpr int tries = 5;
    const int before = first_;
    int best = before;
    int end = non_finite_field;
#pragma unroll 1
    for (int i = 0; i < tries && end > lowest; ++i) {
      const int first = first_below(tile, end);
      set_first(first);
      const int left = warp::reduce_xor(__popc(outside_of(tile)), warp::Plus{});
      if (left < outside) {
        outside = left;
        best = first;
      }
      end = first;
    }
    set_first(before);
    if (best != before) flush_bins();
    set_first(best);
    stay_ = 32;
  }

  /// Moves the bins of the warp to the block's sum.
  __device__ void flush_bins() {
#pragma unroll 1
    for (int b = 0; b < bins; ++b) {
      Bin& own = shared_.bin[b][own_];
      LaneSums low;
      LaneSums high;
      low.add(own.low);
      high.add(own.high);
      low.add_to(block_.sum, exponent_of(first_, b));
      high.add_to(block_.sum, exponent_of(first_, b) + 32);
      own = {};
    }
  }

  BlockTotals& block_;
  Shared& shared_;
  std::uint32_t own_;   ///< the thread in its block
  int first_ = lowest;  ///< exponent field of the first bin's first order
  std::uint32_t first_word_ = 0;
  std::uint32_t stay_ = 0;  ///< tiles with elements outside before the bins may move again
  bool far_ = false;        ///< whether the digits hold elements of this warp
};

}  // namespace warpfold::cuda::kernels
