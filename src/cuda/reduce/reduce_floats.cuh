#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda/reduce/reduce_elements.cuh"
#include "cuda/reduce/reduce_far.cuh"
#include "cuda/reduce/reduce_window.cuh"

namespace warpfold::cuda::kernels {

template <class T, ReduceNeeds needs>
using Number = AsDouble<T, sizeof(T) == 2 && !needs.squares>;

template <class T, ReduceNeeds needs>
constexpr auto slices_type() {
  constexpr bool is_double = std::is_same_v<T, double>;
  constexpr bool is_half = std::is_same_v<T, Float16>;
  constexpr int significand = is_double ? 53 : sizeof(T) == 4 ? 24 : is_half ? 11 : 8;
  if constexpr (needs.squares && is_double)
    return std::type_identity<LongSquareSlices<needs.absolute>>{};
  else if constexpr (needs.squares)
    return std::type_identity<ShortSquareSlices<significand, needs.absolute>>{};
  else if constexpr (is_double)
    return std::type_identity<ValueSlices<3, 6, significand>>{};
  else if constexpr (sizeof(T) == 4)
    return std::type_identity<ValueSlices<2, 6, significand>>{};
  else
    return std::type_identity<ValueSlices<1, is_half ? 12 : 7, significand>>{};
}

/// Which elements of a chunk are what; bit i stands for element i.
struct ChunkMasks {
  std::uint32_t nan = 0;
  std::uint32_t positive_infinity = 0;
  std::uint32_t negative_infinity = 0;
  std::uint32_t inside = 0;   ///< the window, zeros left out
  std::uint32_t outside = 0;  ///< and finite
};

/// By each thread for its own chunk.
template <class T>
__device__ void count_exceptions(const ChunkMasks& masks, const ThreadShare<T>& share,
                                 std::uint32_t place, BlockTotals& block) {
  if (masks.nan != 0) {
    atomicAdd(&block.nan_count, static_cast<unsigned>(__popc(masks.nan)));
    const auto first = static_cast<unsigned>(__ffs(static_cast<int>(masks.nan))) - 1;
    block.note_nan(share.index(place + first));
  }
  if (masks.positive_infinity != 0)
    atomicAdd(&block.positive_infinities, static_cast<unsigned>(__popc(masks.positive_infinity)));
  if (masks.negative_infinity != 0)
    atomicAdd(&block.negative_infinities, static_cast<unsigned>(__popc(masks.negative_infinity)));
}

template <class T, class Contents>
__device__ ChunkMasks masks_of(const Chunk<T>& chunk, Contents window) {
  ChunkMasks masks;
  chunk.visit([&](T element, unsigned i) {
    const auto x = comparable(element);
    const std::uint32_t bit = 1u << i;
    if (x != x)
      masks.nan |= bit;
    else if (std::fabs(x) == std::numeric_limits<Comparable<T>>::infinity())
      (x > 0 ? masks.positive_infinity : masks.negative_infinity) |= bit;
    else if (!contains(window, element))
      masks.outside |= bit;
    else if (x != 0)
      masks.inside |= bit;
  });
  return masks;
}

struct Unbounded {
  __device__ bool holds(const KeyRange&) const { return true; }
};

/// Only that which every reduction counts.
template <class T>
class NonFiniteCounts {
 public:
  static constexpr std::uint32_t settle_chunks = std::uint32_t{1} << 16;
  struct Shared {};

  __device__ NonFiniteCounts(BlockTotals& block, Shared&) : block_(block) {}

  __device__ void open(const Chunk<T>&, bool) { __syncthreads(); }

  __device__ void add(Chunk<T>& chunk, const ThreadShare<T>& share) {
    const auto elements = chunk.elements();
    bool finite = true;
#pragma unroll
    for (unsigned i = 0; i < Chunk<T>::size; ++i) finite &= is_finite(elements[i]);
    if (finite) return;
    const ChunkMasks masks = masks_of(chunk, Unbounded{});
    count_exceptions(masks, share, chunk.place, block_);
  }

  __device__ void flush() {}
  __device__ void flush(Accumulator&) { __syncthreads(); }

 private:
  __device__ static bool is_finite(T element) {
    return std::fabs(comparable(element)) < std::numeric_limits<Comparable<T>>::infinity();
  }

  BlockTotals& block_;
};

/// Nothing at first.
struct ExponentRange {
  int minimum = std::numeric_limits<int>::max();
  int maximum = std::numeric_limits<int>::min();
};

struct Wider {
  __device__ ExponentRange operator()(const ExponentRange& a, const ExponentRange& b) const {
    return {a.minimum < b.minimum ? a.minimum : b.minimum,
            a.maximum > b.maximum ? a.maximum : b.maximum};
  }
};

/// A thread's exact sums of floating-point elements, of their magnitudes and squares.
///
/// The window is one for the whole warp, at first for the whole block: it lies above most of what
/// its lanes have met when it is opened. What falls outside takes a slower way.
template <class T, ReduceNeeds needs>
class FloatSums {
  using Slices = typename decltype(slices_type<T, needs>())::type;
  static constexpr int sums = Slices::sums;
  static constexpr int values = 2 * sums;
  static constexpr int scale = Number<T, needs>::scale;
  static_assert(values <= warp::lanes);

 public:
  static constexpr std::uint32_t settle_chunks = (1u << Slices::headroom) / Chunk<T>::size;
  static_assert(settle_chunks > 0);

  struct Shared {
    double carried[static_cast<std::size_t>(sums)][reduce_threads];
    double of_warp[reduce_warps][static_cast<std::size_t>(values)];
    ExponentRange exponents_of_warp[reduce_warps];
    std::uint32_t next_move_of_warp[reduce_warps];  ///< before this place the window stays
    int first_exponent_of_warp[reduce_warps];
    int exponent_of_warp[reduce_warps];
    bool used_far_by_warp[reduce_warps];
    FarSums<3, ExactSum> far_sums;
    std::conditional_t<needs.absolute, FarSums<3, ExactSum>, char> far_absolutes;
    std::conditional_t<needs.squares, FarSums<4, ExactSumOfSquares>, char> far_squares;
  };

  __device__ FloatSums(BlockTotals& block, Shared& shared) : block_(block), shared_(shared) {
#pragma unroll
    for (int i = 0; i < sums; ++i) shared.carried[i][threadIdx.x] = 0.0;
    if (warp::lane() == 0) {
      shared.next_move_of_warp[warp::index()] = 0;
      shared.used_far_by_warp[warp::index()] = false;
    }
    shared.far_sums.clear();
    if constexpr (needs.absolute) shared.far_absolutes.clear();
    if constexpr (needs.squares) shared.far_squares.clear();
  }

  /// Opens the window for the block whose threads start with these chunks. By all of its threads.
  __device__ void open(const Chunk<T>& chunk, bool has_chunk) {
    const bool one_window = Win::lowest == Win::highest;
    const ExponentRange own = has_chunk && !one_window ? exponents_of(chunk) : ExponentRange{};
    if (warp::lane() == 0) shared_.exponents_of_warp[warp::index()] = own;
    __syncthreads();
    ExponentRange range;
#pragma unroll
    for (int i = 0; i < reduce_warps; ++i) range = Wider{}(range, shared_.exponents_of_warp[i]);
    const int exponent = window_for(range);
    if (warp::lane() == 0) shared_.first_exponent_of_warp[warp::index()] = exponent;
    move_window(exponent);
  }

  /// By all lanes of the warp. Elements that the slices do not take become zero.
  __device__ void add(Chunk<T>& chunk, const ThreadShare<T>& share) {
    if (__any_sync(warp::all_lanes, !window_.holds(key_range(chunk)))) take_irregular(chunk, share);
    const auto elements = chunk.elements();
#pragma unroll
    for (unsigned i = 0; i < Chunk<T>::size; ++i)
      slices_.add(Number<T, needs>::of(elements[i]), sum_);
  }

  __device__ void flush() {
    const int exponent = exponent_of_warp();
#pragma unroll
    for (int i = 0; i < sums; ++i) {
      const double rounding = rounding_to(Slices::unit(i, exponent) + scale + carry_bits);
      const double carry = (sum_[i] + rounding) - rounding;
      shared_.carried[i][threadIdx.x] += carry;
      sum_[i] -= carry;
    }
  }

  /// Adds the block's sums to the total in device memory; what took the slower way goes to the
  /// block's own totals. By all threads of the block, settled.
  __device__ void flush(Accumulator& total) {
    add_up_warp();
    if (exponent_of_warp() != shared_.first_exponent_of_warp[warp::index()]) {
      add_warp_to_block();
      if (warp::lane() < values) shared_.of_warp[warp::index()][warp::lane()] = 0.0;
    }
    __syncthreads();
    bool used_far = false;
#pragma unroll
    for (const bool by_warp : shared_.used_far_by_warp) used_far |= by_warp;
    if (used_far) flush_far();
    if (static_cast<int>(threadIdx.x) >= values) return;
    double value = 0.0;
#pragma unroll
    for (const auto& of_warp : shared_.of_warp) value += of_warp[threadIdx.x];
    add_value(value, static_cast<int>(threadIdx.x) % sums, total);
  }

 private:
  using Win = Window<T, Slices>;

  static constexpr int margin = 3;  ///< binary orders above the lane with the least elements

  /// Having moved, a window stays for as many elements of a thread as came before, or this many.
  static constexpr std::uint32_t longest_stay = 64 * Chunk<T>::size;

  __device__ int exponent_of_warp() const { return shared_.exponent_of_warp[warp::index()]; }

  /// By all lanes of the warp.
  __device__ void move_window(int exponent) {
    __syncwarp();
    if (warp::lane() == 0) shared_.exponent_of_warp[warp::index()] = exponent;
    __syncwarp();
    window_.open(exponent, Slices::orders);
    slices_.open(exponent + scale);
  }

  /// Exponents above the greatest element of each lane: the range of them. By all lanes.
  __device__ static ExponentRange exponents_of(const Chunk<T>& chunk) {
    ExponentRange range;
    int own = std::numeric_limits<int>::min();
    chunk.visit([&](T element, unsigned) {
      const auto magnitude = std::fabs(comparable(element));
      const int exponent = Win::exponent_above(element);
      if (magnitude > 0 && magnitude < std::numeric_limits<Comparable<T>>::infinity() &&
          exponent > own)
        own = exponent;
    });
    if (own != std::numeric_limits<int>::min()) range = {own, own};
    return warp::shuffle(warp::reduce(range, Wider{}), 0);
  }

  /// Returns a window for lanes of such greatest elements, or for those of the least where others,
  /// maybe a few, are far above.
  __device__ static int window_for(const ExponentRange& range) {
    constexpr int spread = 2 * Slices::orders / 3;
    if (range.maximum < range.minimum) return Win::lowest;
    const int exponent =
        range.maximum - range.minimum > spread ? range.minimum + margin : range.maximum + 1;
    return exponent < Win::lowest ? Win::lowest : exponent > Win::highest ? Win::highest : exponent;
  }

  __device__ void take_irregular(Chunk<T>& chunk, const ThreadShare<T>& share) {
    ChunkMasks masks = masks_of(chunk, window_);
    count_exceptions(masks, share, chunk.place, block_);
    if (is_misplaced(masks) && may_move(chunk.place)) {
      replace_window(window_for(exponents_of(chunk)));
      masks = masks_of(chunk, window_);
    }
    for (std::uint32_t left = masks.outside; left != 0; left &= left - 1)
      take_far(comparable(chunk.at(static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1)));
    chunk.keep(masks.inside);
  }

  /// Tells whether for most lanes that have elements most of these lie outside the window.
  __device__ bool is_misplaced(const ChunkMasks& masks) const {
    const bool outside = __popc(masks.outside) > __popc(masks.inside);
    const int votes = __popc(__ballot_sync(warp::all_lanes, outside));
    const int lanes = __popc(__ballot_sync(warp::all_lanes, (masks.outside | masks.inside) != 0));
    return 2 * votes > lanes;
  }

  /// And when it may again. By all lanes of the warp.
  __device__ bool may_move(std::uint32_t place) {
    std::uint32_t& next_move = shared_.next_move_of_warp[warp::index()];
    const std::uint32_t here = warp::shuffle(place, 0);
    const bool may = here >= next_move;
    const std::uint32_t stay = here < longest_stay ? here : longest_stay;
    __syncwarp();
    if (may && warp::lane() == 0) next_move = here + stay;
    __syncwarp();
    return may;
  }

  __device__ void replace_window(int exponent) {
    if (exponent == exponent_of_warp()) return;
    flush();
    add_up_warp();
    add_warp_to_block();
#pragma unroll
    for (int i = 0; i < sums; ++i) {
      sum_[i] = 0.0;
      shared_.carried[i][threadIdx.x] = 0.0;
    }
    move_window(exponent);
  }

  /// To shared memory. Carried sums and what settle() leaves of the others are far from 53 bits:
  /// those of a block's threads add up without rounding.
  __device__ void add_up_warp() {
    double* of_warp = shared_.of_warp[warp::index()];
#pragma unroll
    for (int i = 0; i < sums; ++i) {
      const double low = warp::reduce(sum_[i], Plus{});
      const double high = warp::reduce(shared_.carried[i][threadIdx.x], Plus{});
      if (warp::lane() != 0) continue;
      of_warp[i] = low;
      of_warp[sums + i] = high;
    }
    __syncwarp();
  }

  __device__ void add_warp_to_block() {
    const int lane = warp::lane();
    if (lane < values) add_value(shared_.of_warp[warp::index()][lane], lane % sums, block_);
    __syncwarp();
  }

  /// `to` has limbs that other threads add to at the same time.
  template <class Totals>
  __device__ static void add_value(double value, int sum, Totals& to) {
    if (value == 0.0) return;
    constexpr double unscaled =
        std::bit_cast<double>(static_cast<std::uint64_t>(1023 - scale) << 52);
    value *= Slices::factor(sum) * unscaled;
    const Power power = Slices::power(sum);
    if (needs.squares && power == Power::square)
      ExactSumOfSquares::digits(value, AtomicLimbs(to.squares.limb));
    else
      ExactSum::digits(value,
                       AtomicLimbs(needs.absolute && power == Power::magnitude ? to.absolute.limb
                                                                               : to.sum.limb));
  }

  __device__ void take_far(Comparable<T> element) {
    constexpr double huge = 0x1p960;
    const double x = element;
    const double magnitude = std::fabs(x);
    if (!std::is_same_v<T, double> || magnitude < huge) {
      shared_.used_far_by_warp[warp::index()] = true;
      shared_.far_sums.push(x, block_.sum);
      if constexpr (needs.absolute) shared_.far_absolutes.push(magnitude, block_.absolute);
      if constexpr (needs.squares) take_far_square(magnitude);
    } else {
      // Their sums might overflow.
      add_to_shared(block_.sum, x);
      if constexpr (needs.absolute) add_to_shared(block_.absolute, magnitude);
      if constexpr (needs.squares) add_square_to_shared(block_.squares, magnitude);
    }
  }

  __device__ void take_far_square(double magnitude) {
    const double square = magnitude * magnitude;
    if constexpr (!std::is_same_v<T, double>) {
      // Exact: 24 bits squared, far from the ends of double's range.
      shared_.far_squares.push(square, block_.squares);
    } else if (magnitude >= 0x1p-480 && magnitude <= 0x1p470) {
      // The error of the product is a multiple of 2^-1064: exact.
      shared_.far_squares.push(square, block_.squares);
      shared_.far_squares.push(std::fma(magnitude, magnitude, -square), block_.squares);
    } else {
      add_square_to_shared(block_.squares, magnitude);
    }
  }

  __device__ void flush_far() {
    shared_.far_sums.flush(block_.sum);
    if constexpr (needs.absolute) shared_.far_absolutes.flush(block_.absolute);
    if constexpr (needs.squares) shared_.far_squares.flush(block_.squares);
  }

  BlockTotals& block_;
  Shared& shared_;
  Slices slices_;
  Win window_;
  double sum_[static_cast<std::size_t>(sums)] = {};
};

}  // namespace warpfold::cuda::kernels
