#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda/reduce/reduce_far_digits.cuh"
#include "cuda/reduce/reduce_non_finite.cuh"
#include "cuda/reduce/reduce_products.cuh"

namespace warpfold::cuda::kernels {

/// Bytes of a block's shared memory: what kernels may use by default, what all GPUs have that run
/// code for compute capability 7.x, and what those have that run code for later ones.
inline constexpr int usual_shared_bytes = 48 << 10;
inline constexpr int small_shared_bytes = 64 << 10;
inline constexpr int large_shared_bytes = 96 << 10;

/// The most of these before dynamic_shared(), which is aligned to 1024 bytes.
inline constexpr int static_shared_bytes =
    static_cast<int>((sizeof(BlockTotals) + sizeof(ReduceShare) + 1023) / 1024 * 1024);

/// A thread's exact sums without FP64 arithmetic: integers in shared memory, one set for each 16
/// binary orders. A set takes a significand times 2^0 to 2^15 of its unit. Where not all orders
/// have bins, a warp's bins start at some order, and elements outside go to digits that the threads
/// of the block share. A block of the sum alone has 48 KiB, so that several are resident.
template <class T, ReduceNeeds needs, int SharedBytes>
class Bins {
  using Tile = ThreadTile<T>;
  using Words = FloatWords<T>;
  static constexpr int significand = Words::words == 2 ? 53 : 24;
  static constexpr int copies = needs.squares ? 8 : 16;

  using FarSum = FarDigits<Words::fields, significand, copies>;
  using FarSquares =
      FarDigits<2 * Words::fields, 2 * significand, needs.squares ? copies / 2 : copies>;

  static_assert(needs.squares || !needs.absolute);
  /// Plain structs: where empty members are marked [[no_unique_address]], nvcc 13.0 may place the
  /// elements of an array further apart than sizeof.
  template <class OfSum, class OfMoments, class OfAll>
  using ByNeeds = std::conditional_t<needs.absolute, OfAll,
                                     std::conditional_t<needs.squares, OfMoments, OfSum>>;

  struct FarOfSum {
    FarSum sum;
    int first[reduce_warps];
  };
  struct FarOfMoments {
    FarSum sum;
    FarSquares squares;
    int first[reduce_warps];
  };
  struct FarOfAll {
    FarSum sum;
    FarSum absolute;
    FarSquares squares;
    int first[reduce_warps];
  };
  using Far = ByNeeds<FarOfSum, FarOfMoments, FarOfAll>;

  struct RowOfSum {
    ElementSum<T> sum[reduce_threads];
  };
  struct RowOfMoments {
    ElementSum<T> sum[reduce_threads];
    Words64<Words::words> square[reduce_threads];
    std::uint32_t square_top[reduce_threads];
  };
  struct RowOfAll {
    ElementSum<T> sum[reduce_threads];
    ElementSum<T> absolute[reduce_threads];
    Words64<Words::words> square[reduce_threads];
    std::uint32_t square_top[reduce_threads];
  };
  /// One bin of all threads.
  using Row = ByNeeds<RowOfSum, RowOfMoments, RowOfAll>;

  static constexpr int all_bins = Words::fields / bin_orders;
  static constexpr int room = (needs.squares ? SharedBytes : usual_shared_bytes) -
                              static_shared_bytes - static_cast<int>(sizeof(Far));
  static constexpr int most_bins = room / static_cast<int>(sizeof(Row));
  static constexpr int bins = most_bins < all_bins ? most_bins : all_bins;
  static constexpr bool all_orders = bins == all_bins;
  static constexpr int orders = bins * bin_orders;
  static constexpr int last_first = Words::non_finite_field - orders;

  struct Rows {
    Row bin[bins];
  };
  struct RowsAndFar {
    Row bin[bins];
    Far far;
  };

 public:
  using Shared = std::conditional_t<all_orders, Rows, RowsAndFar>;

  /// Tiles between two calls of settle(), so few that digits do not overflow.
  static constexpr std::uint32_t settle_tiles =
      all_orders ? std::uint32_t{1} << 10 : FarSquares::most_of_thread / Tile::size;

  __device__ Bins(BlockTotals& block, Shared& shared)
      : block_(block), shared_(shared), own_(threadIdx.x) {
    clear();
    if constexpr (!all_orders) {
      shared_.far.sum.clear();
      if constexpr (needs.absolute) shared_.far.absolute.clear();
      if constexpr (needs.squares) shared_.far.squares.clear();
    }
  }

  /// Places the bins for the block whose threads start with these tiles. By all of its threads.
  __device__ void open(const Tile& tile, bool has_tile) {
    if constexpr (!all_orders) {
      const int first = has_tile ? first_below(tile, Words::non_finite_field) : 0;
      if (warp::lane() == 0) shared_.far.first[warp::index()] = first;
    }
    __syncthreads();
    set_first(first_of_block());
  }

  /// Adds a tile, but counts elements that are not finite. By all lanes of the warp.
  __device__ void take(Tile& tile, const ThreadShare<T>& share) {
    if constexpr (all_orders && !std::is_same_v<T, Float16>) {
      float nothing = 0;  // until an infinity or a NaN comes
      for_words(tile, [&](const Words& x, unsigned) {
        nothing = std::fmaf(std::bit_cast<float>(x.high), 0.0f, nothing);
      });
      if (nothing != 0) extract_outside(tile, share);
    } else {
      std::uint32_t outside = 0;
      for_words(tile, [&](const Words& x, unsigned) {
        if (!holds(x)) outside |= x.nonzero();
      });
      if (warp::any(outside != 0)) extract_outside(tile, share);
    }
    if (all_orders || first_ == 0)
      add<true>(tile);
    else
      add<false>(tile);
  }

  /// Adds units of 2^exponent to the bins of sums, which have all orders.
  __device__ void add_units(std::int64_t units, int exponent) {
    static_assert(all_orders && Words::words == 1);
    const int place = exponent - Words::lowest;
    const int b = place / bin_orders < bins ? place / bin_orders : bins - 1;
    shared_.bin[b].sum[own_].word[0] += units * (std::int64_t{1} << (place - b * bin_orders));
  }

  /// Moves what may overflow to the block's sums. By all lanes of the warp.
  __device__ void settle(const ThreadShare<T>& share) {
    if constexpr (!all_orders) {
      if (far_) move_far();
      far_ = false;
    }
    if (!share.at_end() && share.is_due(flush_tiles)) flush_bins();
  }

  /// Adds the sums to the block's. By all threads of the block.
  __device__ void flush() {
    const int first = first_of_block();
    if (first_ != first) flush_bins();
    __syncthreads();
#pragma unroll 1
    for (int b = warp::index(); b < bins; b += reduce_warps)
      add_bin(first, b, warp::lane(), reduce_threads);
  }

 private:
  static constexpr std::uint32_t flush_tiles = ElementSum<T>::most_elements / Tile::size;

  __device__ bool holds(const Words& x) const {
    return x.magnitude() - first_word_ < (all_orders
                                              ? static_cast<std::uint32_t>(Words::non_finite_field)
                                              : static_cast<std::uint32_t>(orders))
                                             << Words::fraction_bits;
  }

  __device__ static int exponent_of(int first, int bin) {
    return first + Words::lowest + bin_orders * bin;
  }

  /// With the lowest bins, elements may be subnormal. They have the unit of field 1, which is
  /// twice that of field 0.
  template <bool Lowest>
  __device__ void add(const Tile& tile) {
    for_words(tile, [&](const Words& x, unsigned) {
      const std::uint32_t above = x.magnitude() - first_word_;
      const bool zero = !Lowest && !holds(x);
      const bool subnormal = Lowest && x.field() == 0;
      constexpr int doubling = Words::words == 1 ? 1 : 0;  // or else by the shift
      const std::uint32_t high =
          subnormal ? x.magnitude() << doubling : with_leading_bit<Words::fraction_bits>(x.high);
      const std::uint32_t shift = (above >> Words::fraction_bits) % bin_orders;
      add_to_bin(zero ? 0 : above >> (Words::fraction_bits + 4),
                 {zero ? 0 : high, x.low, subnormal && doubling == 0 ? 1 : shift,
                  static_cast<std::int32_t>(x.high) >> 31});
    });
  }

  __device__ void add_to_bin(std::uint32_t b, const ShiftedElement<T>& x) {
    ElementSum<T>& own = shared_.bin[b].sum[own_];
    ElementSum<T> sum = own;
    sum.add(x, x.power());
    if constexpr (needs.absolute) {
      ElementSum<T>& own_absolute = shared_.bin[b].absolute[own_];
      ElementSum<T> absolute = own_absolute;
      absolute.add(x, x.magnitude_power());
      own_absolute = absolute;
    }
    if constexpr (needs.squares) {
      SquareSum<T> squares = squares_of(b, own_);
      squares.add(x);
      store_squares(b, squares);
    }
    own = sum;
  }

  __device__ SquareSum<T> squares_of(std::uint32_t b, std::uint32_t thread) const {
    const Words64<Words::words> low = shared_.bin[b].square[thread];
    SquareSum<T> squares;
#pragma unroll
    for (int k = 0; k < Words::words; ++k) {
      squares.word[2 * k] = static_cast<std::uint32_t>(low.word[k]);
      squares.word[2 * k + 1] = static_cast<std::uint32_t>(low.word[k] >> 32);
    }
    squares.word[SquareSum<T>::words - 1] = shared_.bin[b].square_top[thread];
    return squares;
  }

  __device__ void store_squares(std::uint32_t b, const SquareSum<T>& squares) {
    Words64<Words::words> low;
#pragma unroll
    for (int k = 0; k < Words::words; ++k)
      low.word[k] = static_cast<std::int64_t>(std::uint64_t{squares.word[2 * k + 1]} << 32 |
                                              squares.word[2 * k]);
    shared_.bin[b].square[own_] = low;
    shared_.bin[b].square_top[own_] = squares.word[SquareSum<T>::words - 1];
  }

  __device__ void clear() {
#pragma unroll 1
    for (int b = 0; b < bins; ++b) clear(b);
  }

  __device__ void clear(int b) {
    shared_.bin[b].sum[own_] = {};
    if constexpr (needs.absolute) shared_.bin[b].absolute[own_] = {};
    if constexpr (needs.squares) store_squares(static_cast<std::uint32_t>(b), {});
  }

  __device__ void set_first(int first) {
    first_ = first;
    first_word_ = static_cast<std::uint32_t>(first) << Words::fraction_bits;
  }

  __device__ int first_of_block() const {
    int first = 0;
    if constexpr (!all_orders) {
#pragma unroll
      for (const int of_warp : shared_.far.first) first = of_warp > first ? of_warp : first;
    }
    return first;
  }

  /// Returns the first field of bins whose last but one is the warp's greatest below `end`. Called
  /// by all lanes of the warp.
  __device__ static int first_below(const Tile& tile, int end) {
    const int first = greatest_field(tile, end) + 2 - orders;
    return first < 0 ? 0 : first > last_first ? last_first : first;
  }

  __device__ std::uint32_t outside_of(const Tile& tile) const {
    std::uint32_t outside = 0;
    tile.template visit<Tile::vectors>([&](T element, unsigned i) {
      const Words x = Words::of(element);
      outside |= holds(x) || x.nonzero() == 0 ? 0u : 1u << i;
    });
    return outside;
  }

  __device__ static bool has_non_finite(const Tile& tile) {
    bool finite = true;
    tile.template visit<Tile::vectors>(
        [&](T element, unsigned) { finite &= Words::of(element).is_finite(); });
    return !finite;
  }

  __device__ void extract_outside(Tile& tile, const ThreadShare<T>& share) {
    if (has_non_finite(tile)) tile.keep(~count_non_finite(tile, share, block_));
    if constexpr (!all_orders) {
      constexpr int many = warp::lanes * static_cast<int>(Tile::size) / 8;
      std::uint32_t outside = outside_of(tile);
      const int all = warp::reduce_xor(__popc(outside), warp::Plus{});
      if (all == 0) return;
      if (stay_ != 0) {
        --stay_;
      } else if (all > many) {
        move(tile, all);
        outside = outside_of(tile);
      }
      tile.template visit<needs.squares ? 1 : Tile::vectors>([&](T element, unsigned i) {
        if ((outside >> i & 1) != 0) add_far(Words::of(element));
      });
      tile.keep(~outside);
      far_ = true;
    }
  }

  __device__ void add_far(const Words& x) {
    const bool subnormal = x.field() == 0;
    const int field = subnormal ? 1 : x.field();
    const std::uint32_t high =
        subnormal ? x.magnitude() : with_leading_bit<Words::fraction_bits>(x.high);
    const std::uint64_t magnitude = Words::words == 1 ? high : std::uint64_t{high} << 32 | x.low;
    shared_.far.sum.add(magnitude, field, x.high >> 31 != 0);
    if constexpr (needs.absolute) shared_.far.absolute.add(magnitude, field, false);
    if constexpr (needs.squares)
      shared_.far.squares.add(uint128{magnitude} * magnitude, 2 * field, false);
  }

  __device__ void move_far() {
    shared_.far.sum.move_to(block_.sum, Words::lowest);
    if constexpr (needs.absolute) shared_.far.absolute.move_to(block_.absolute, Words::lowest);
    if constexpr (needs.squares) shared_.far.squares.move_to(block_.squares, 2 * Words::lowest);
  }

  /// Moves the bins to where fewer elements are outside, if there is such a place; they then stay
  /// for a while. By all lanes of the warp.
  __device__ void move(const Tile& tile, int outside) {
    constexpr int tries = 5;
    const int before = first_;
    int best = before;
    int end = Words::non_finite_field;
#pragma unroll 1
    for (int i = 0; i < tries && end > 0; ++i) {
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

  /// Moves the bins of the warp to the block's sums.
  __device__ void flush_bins() {
    const int warp_begin = warp::index() * warp::lanes;
#pragma unroll 1
    for (int b = 0; b < bins; ++b) {
      add_bin(first_, b, warp_begin + warp::lane(), warp_begin + warp::lanes);
      clear(b);
    }
  }

  /// Adds the threads' bin b, of every warp::lanes-th thread from `thread` on in each lane, to the
  /// block's sums. By all lanes of the warp.
  __device__ void add_bin(int first, int b, int thread, int end) {
    const int exponent = exponent_of(first, b);
    add_rows(shared_.bin[b].sum, thread, end, exponent, block_.sum);
    if constexpr (needs.absolute)
      add_rows(shared_.bin[b].absolute, thread, end, exponent, block_.absolute);
    if constexpr (needs.squares) {
      LaneSums sums[Words::words + 1];
#pragma unroll 1
      for (; thread < end; thread += warp::lanes) {
        const auto squares = squares_of(static_cast<std::uint32_t>(b), thread);
#pragma unroll
        for (int k = 0; k < SquareSum<T>::words; ++k)
          (k % 2 == 0 ? sums[k / 2].low : sums[k / 2].high) += squares.word[k];
      }
#pragma unroll
      for (int k = 0; k <= Words::words; ++k) sums[k].add_to(block_.squares, 2 * exponent + 64 * k);
    }
  }

  __device__ static void add_rows(const ElementSum<T> (&row)[reduce_threads], int thread, int end,
                                  int exponent, ExactSum& number) {
    LaneSums sums[Words::words];
#pragma unroll 1
    for (; thread < end; thread += warp::lanes)
#pragma unroll
      for (int k = 0; k < Words::words; ++k) sums[k].add(row[thread].word[k]);
#pragma unroll
    for (int k = 0; k < Words::words; ++k) sums[k].add_to(number, exponent + 32 * k);
  }

  BlockTotals& block_;
  Shared& shared_;
  std::uint32_t own_;  ///< the thread in its block
  int first_ = 0;      ///< field of the first bin's first order
  std::uint32_t first_word_ = 0;
  std::uint32_t stay_ = 0;  ///< tiles with elements outside before the bins may move again
  bool far_ = false;        ///< whether the digits hold elements of this warp
};

}  // namespace warpfold::cuda::kernels
