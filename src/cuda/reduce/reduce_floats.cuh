#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda/primitives/placed_float.hpp"
#include "cuda/reduce/reduce_elements.cuh"
#include "cuda/reduce/reduce_far.cuh"
#include "cuda/reduce/reduce_non_finite.cuh"
#include "cuda/reduce/reduce_sums.cuh"
#include "cuda/reduce/reduce_window.cuh"

namespace warpfold::cuda::kernels {

template <class T, ReduceNeeds needs>
using Number = AsDouble<T, !needs.squares>;

template <class T, ReduceNeeds needs>
constexpr auto slices_type() {
  constexpr int significand = significand_bits<T>;
  if constexpr (!needs.squares)
    return std::type_identity<ValueSlice<11, significand>>{};
  else if constexpr (std::is_same_v<T, double>)
    return std::type_identity<LongSquareSlices<needs.absolute>>{};
  else
    return std::type_identity<ShortSquareSlices<significand, needs.absolute>>{};
}

/// Slices of more binary orders, where some would not do.
template <class T, ReduceNeeds needs>
constexpr auto wide_slices_type() {
  if constexpr (std::is_same_v<T, double>)
    return std::type_identity<WideLongSquareSlices<needs.absolute>>{};
  else
    return slices_type<T, needs>();
}

/// Shared memory of the warps of a block that sums floats.
template <class T>
struct FloatMemory {
  struct Warp {
    WarpSums sums;
    FarElements<T> far;
    int first_exponent;       ///< exponent of the window for the warp's first tile
    int wide_exponent;        ///< exponent of the window for wider slices
    std::uint32_t next_move;  ///< before this place the window stays
  };

  Warp warp[reduce_warps];
};

/// A window for a warp's tile, of so many binary orders, and how many elements it does not hold.
struct WindowChoice {
  int exponent;
  int outside;
};

/// visit(key) for each element of a tile that is finite and not zero.
template <class T, class Visit>
__device__ void visit_keys(const ThreadTile<T>& tile, Visit visit) {
  tile.visit([&](T element, unsigned) {
    const auto magnitude = std::fabs(comparable(element));
    if (magnitude > 0 && magnitude < std::numeric_limits<Comparable<T>>::infinity())
      visit(key_of_element(element));
  });
}

__device__ inline int clamped(int value, int least, int most) {
  return value < least ? least : value > most ? most : value;
}

/// Returns the highest window that holds half of the warp's elements.
template <class T, class Slices>
__device__ WindowChoice choose_window(const ThreadTile<T>& tile) {
  using Win = Window<T, Slices>;
  constexpr int tries = 5;
  constexpr int none = std::numeric_limits<int>::min();
  WindowChoice choice{Win::lowest, 0};
  int limit = Win::far_highest;
#pragma unroll 1
  for (int i = 0; i < tries; ++i) {
    int own = none;
    int all = 0;
    visit_keys(tile, [&](std::uint32_t key) {
      const int exponent = Win::exponent_above(key);
      if (exponent <= limit && exponent > own) own = exponent;
      ++all;
    });
    const int above = warp::reduce_xor(own, warp::Maximum{});
    if (above == none) break;
    choice.exponent = clamped(above + 1, Win::lowest, Win::highest);
    Win window;
    window.open(choice.exponent, Slices::orders);
    int outside = 0;
    visit_keys(tile, [&](std::uint32_t key) { outside += contains(window, key) ? 0 : 1; });
    choice.outside = warp::reduce_xor(outside, warp::Plus{});
    if (2 * choice.outside <= warp::reduce_xor(all, warp::Plus{})) break;
    limit = above - Slices::orders;
  }
  return choice;
}

/// A warp's exact sums of floating-point elements, of their magnitudes and squares, in slices of
/// one window. Elements outside wait, to be summed in other windows.
template <class T, ReduceNeeds needs, class Slices, class WideSlices = Slices>
class SlicedSums {
 public:
  using Memory = typename FloatMemory<T>::Warp;
  using Win = Window<T, Slices>;
  static constexpr std::uint32_t settle_tiles = (1u << Slices::headroom) / ThreadTile<T>::size;
  static_assert(settle_tiles > 0);
  static_assert(1 << Slices::headroom >= FarElements<T>::of_lane);

  __device__ SlicedSums(BlockTotals& block, Memory& memory) : block_(block), memory_(memory) {}

  __device__ static SlicesPlace place_of(int exponent) { return {exponent + scale, scale}; }

  /// Opens a window. By all lanes of the warp.
  __device__ void open(int exponent) {
    __syncwarp();
    if (warp::lane() == 0) memory_.sums.place = place_of(exponent);
    window_.open(exponent, Slices::orders);
    clear_sums<Slices>(sum_, place_of(exponent));
    __syncwarp();
  }

  /// Adds a tile's finite elements that the window holds. Others are counted or wait outside. By
  /// all lanes of the warp.
  __device__ void add(ThreadTile<T>& tile, const ThreadShare<T>& share) {
    extract_outliers(tile, share);
    const auto elements = tile.elements();
#pragma unroll
    for (unsigned i = 0; i < ThreadTile<T>::size; ++i)
      Slices::add(Number<T, needs>::of(elements[i]), sum_);
  }

  /// Moves a thread's sums to its warp's, and these to the block's when due. Called by all lanes of
  /// the warp.
  __device__ void settle(const ThreadShare<T>& share) {
    memory_.sums.template take<Slices>(sum_);
    if (share.at_end() || !share.is_due(WarpSums::settlements * settle_tiles)) return;
    move_to_block<Slices>(memory_.sums, block_);
    if constexpr (has_outside) move_to_block<Slices>(memory_.far.sums, block_);
  }

  /// Sums elements that wait: as many as make whole batches, or all. By all lanes of the warp.
  __device__ void sum_far(bool all) {
    if constexpr (has_outside) {
      const int least = all ? 1 : FarElements<T>::batch;
      if (memory_.far.count < least) return;
      memory_.sums.template take<Slices>(sum_);
#pragma unroll 1
      while (memory_.far.count >= least) sum_batch();
      clear_sums<Slices>(sum_, memory_.sums.place);
    }
  }

  /// Returns whether wider slices are to take the elements from here on.
  __device__ bool too_narrow() const { return too_narrow_; }

  /// Moves the sums to the block's, but those in the window of `exponent`. By all lanes of the
  /// warp.
  __device__ void flush_other_windows(int exponent) {
    if (memory_.sums.place == place_of(exponent))
      memory_.sums.template gather<Slices>();
    else
      move_to_block<Slices>(memory_.sums, block_);
    if constexpr (has_outside) move_to_block<Slices>(memory_.far.sums, block_);
  }

 private:
  static constexpr int scale = Number<T, needs>::scale;
  static constexpr bool has_outside = Win::lowest != Win::highest;

  /// Smallest key of infinities; of the greatest numbers, too, where keys are their upper words.
  static constexpr std::uint32_t non_finite_key = std::is_same_v<T, double>    ? 0xffefffffu
                                                  : std::is_same_v<T, Float16> ? 0xfbff0000u
                                                  : sizeof(T) == 2             ? 0xff7f0000u
                                                                               : 0xff7fffffu;

  /// Having moved, a window stays for as many elements of a thread as came before, or this many.
  static constexpr std::uint32_t longest_stay = 64 * ThreadTile<T>::size;

  /// As many as leave registers enough.
  static constexpr int unrolled_vectors = needs.squares ? 2 : 4;

  /// Makes elements zero that the slices are not to take: those that are not finite are counted,
  /// others wait outside. By all lanes of the warp.
  __device__ void extract_outliers(ThreadTile<T>& tile, const ThreadShare<T>& share) {
    const KeyRange range = key_range(tile);
    if (!warp::any(!window_.holds(range))) return;
    if (warp::any(range.maximum >= non_finite_key))
      tile.keep(~count_non_finite(tile, share, block_));
    if constexpr (has_outside) {
      constexpr int many = warp::lanes * static_cast<int>(ThreadTile<T>::size) / 4;
      std::uint32_t outside = outside_of(tile);
      int through = warp::inclusive_scan(__popc(outside), warp::Plus{});
      const int all = warp::shuffle(through, warp::lanes - 1);
      if (all > many && may_move(tile.place) && reconsider(tile, all)) {
        outside = outside_of(tile);
        through = warp::inclusive_scan(__popc(outside), warp::Plus{});
      }
      memory_.far.take(tile, outside, through);
    }
  }

  __device__ std::uint32_t outside_of(const ThreadTile<T>& tile) const {
    std::uint32_t outside = 0;
    tile.template visit<unrolled_vectors>([&](T element, unsigned i) {
      outside |= contains(window_, key_of_element(element)) ? 0u : 1u << i;
    });
    return outside;
  }

  /// And when it may again. By all lanes of the warp.
  __device__ bool may_move(std::uint32_t place) {
    const std::uint32_t here = warp::shuffle(place, 0);
    const bool may = here >= memory_.next_move;
    const std::uint32_t stay = here < longest_stay ? here : longest_stay;
    __syncwarp();
    if (may && warp::lane() == 0) memory_.next_move = here + stay;
    __syncwarp();
    return may;
  }

  /// Opens another window for such a tile, of whose elements many are outside, or leaves the rest
  /// to wider slices; tells whether there is another one. By all lanes of the warp.
  __device__ bool reconsider(const ThreadTile<T>& tile, int outside) {
    const WindowChoice choice = choose_window<T, Slices>(tile);
    if (choice.outside < outside) outside = choice.outside;
    if constexpr (!std::is_same_v<Slices, WideSlices>) {
      const WindowChoice wide = choose_window<T, WideSlices>(tile);
      too_narrow_ = 2 * wide.outside < outside;
      if (too_narrow_) {
        if (warp::lane() == 0) memory_.wide_exponent = wide.exponent;
        return false;
      }
    }
    if (choice.outside > outside || memory_.sums.place == place_of(choice.exponent)) return false;
    memory_.sums.template take<Slices>(sum_);
    move_to_block<Slices>(memory_.sums, block_);
    open(choice.exponent);
    return true;
  }

  /// Sums the last batch in windows below its greatest elements, one after the other.
  __device__ void sum_batch() {
    constexpr int steps = 8;  ///< that windows are apart, so that few are different
    FarElements<T>& far = memory_.far;
    const int begin = far.count > FarElements<T>::batch ? far.count - FarElements<T>::batch : 0;
    T* const own = far.element + begin + warp::lane();
    const int end = far.count - begin - warp::lane();
    while (true) {
      std::uint32_t highest = 0;
#pragma unroll 1
      for (int i = 0; i < end && i < FarElements<T>::batch; i += warp::lanes) {
        const std::uint32_t key = key_of_element(own[i]);
        if (key >= least_key && key > highest) highest = key;
      }
      highest = warp::maximum(highest);
      if (highest == 0) break;
      const int exponent = clamped((Win::exponent_above(highest) + steps - 1) & -steps,
                                   Win::far_lowest, Win::far_highest);
      sum_in_window(own, end, exponent);
    }
    __syncwarp();
    if (warp::lane() == 0) far.count = begin;
    __syncwarp();
  }

  /// Sums elements that the window holds, and makes them zero.
  __device__ void sum_in_window(T* own, int end, int exponent) {
    constexpr int far_scale = 700;
    const int by = scale + (exponent > Win::highest  ? -far_scale
                            : exponent < Win::lowest ? far_scale
                                                     : 0);
    WarpSums& sums = memory_.far.sums;
    const SlicesPlace place{exponent + by, by};
    if (!(sums.place == place)) {
      move_to_block<Slices>(sums, block_);
      if (warp::lane() == 0) sums.place = place;
      __syncwarp();
    }
    Win window;
    window.open(exponent, Slices::orders);
    clear_sums<Slices>(sum_, place);
    const double factor = std::bit_cast<double>(std::uint64_t{power_word(by - scale)} << 32);
#pragma unroll 2
    for (int i = 0; i < FarElements<T>::batch; i += warp::lanes) {
      T element = i < end ? own[i] : T{};
      if (contains(window, key_of_element(element))) {
        if (i < end) own[i] = T{};
      } else {
        element = T{};
      }
      Slices::add(Number<T, needs>::of(element) * factor, sum_);
    }
    sums.template take<Slices>(sum_);
  }

  BlockTotals& block_;
  Memory& memory_;
  Win window_;
  bool too_narrow_ = false;
  double sum_[static_cast<std::size_t>(Slices::sums)];
};

/// A thread's part in a block's exact sums of half precision and statistics of doubles. Where
/// slices of a narrow window leave many elements outside, those of a wide one take their place.
template <class T, ReduceNeeds needs>
class FloatSums {
  using Slices = typename decltype(slices_type<T, needs>())::type;
  using WideSlices = typename decltype(wide_slices_type<T, needs>())::type;
  using Sums = SlicedSums<T, needs, Slices, WideSlices>;
  using WideSums = SlicedSums<T, needs, WideSlices>;
  static constexpr bool one_window = Sums::Win::lowest == Sums::Win::highest;

 public:
  using Shared = FloatMemory<T>;
  static constexpr bool has_windows = true;

  __device__ FloatSums(BlockTotals& block, Shared& shared)
      : block_(block), shared_(shared), sums_(block, own()) {
    own().sums.clear();
    own().far.sums.clear();
    if (warp::lane() == 0) {
      own().far.count = 0;
      own().far.sums.place = {};
      own().next_move = 0;
    }
    __syncwarp();
  }

  /// Opens the window for the block whose threads start with these tiles. By all of its threads.
  __device__ void open(const ThreadTile<T>& tile, bool has_tile) {
    ThreadTile<T> some{};
    some.vector[0] = tile.vector[0];
    int exponent = Sums::Win::lowest;
    if (has_tile && !one_window) exponent = choose_window<T, Slices>(some).exponent;
    if (warp::lane() == 0) own().first_exponent = exponent;
    __syncthreads();
    sums_.open(block_exponent());
  }

  /// Calls take(sums) with those that are to take all further tiles they can.
  template <class Take>
  __device__ void visit(Take take) {
    take(sums_);
    sums_.flush_other_windows(sums_.too_narrow() ? no_exponent : block_exponent());
    if constexpr (!std::is_same_v<Slices, WideSlices>) {
      if (!sums_.too_narrow()) return;
      WideSums wide(block_, own());
      wide.open(own().wide_exponent);
      take(wide);
      wide.flush_other_windows(no_exponent);
    }
  }

  /// Adds the sums of warps to the block's. By all threads of the block.
  __device__ void flush() {
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x);
    const int group = thread / warp::lanes;
    if (group * WarpSums::group >= Slices::sums) return;
    std::int64_t part = 0;
#pragma unroll
    for (const auto& of_warp : shared_.warp) part += of_warp.sums.part[group][warp::lane()];
    add_part<Slices>(part, group, warp::lane(), Sums::place_of(block_exponent()), block_);
  }

 private:
  static constexpr int no_exponent = std::numeric_limits<int>::max() / 2;

  __device__ typename Shared::Warp& own() { return shared_.warp[warp::index()]; }

  __device__ int block_exponent() const {
    int exponent = Sums::Win::lowest;
#pragma unroll
    for (const auto& of_warp : shared_.warp)
      exponent = of_warp.first_exponent > exponent ? of_warp.first_exponent : exponent;
    return exponent;
  }

  BlockTotals& block_;
  Shared& shared_;
  Sums sums_;
};

}  // namespace warpfold::cuda::kernels
