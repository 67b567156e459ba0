#pragma once

#include <cmath>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/digit_columns.cuh"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"

/// Prefixes of any tile, in full width.
namespace warpfold::cuda::kernels {

/// A thread's consecutive elements of a tile.
template <class T>
class ExactPart {
 public:
  static constexpr int elements = scan_order::tile_elements / column_threads;

  __device__ ExactPart(const BlockView& block, const Tile& tile)
      : block_(block),
        tile_(tile),
        first_(static_cast<std::int32_t>(threadIdx.x) * elements),
        end_(min(first_ + elements, tile.count)) {}

  /// Replaces the elements by their prefixes. To be called by a whole block of column_threads.
  template <class Out>
  __device__ void scan(const TileStart& start, const std::int64_t* base_limbs, bool exclusive,
                       DigitColumns& columns) const {
    load_base(start.base_limbs, base_limbs, columns);
    find_columns(columns);
    sum_up(columns);
    Out* to = reinterpret_cast<Out*>(block_.output) + tile_.first;
    for (std::int32_t place = first_; place < end_; ++place) {
      const double x = finite_element_at(place);
      if (!exclusive) add(x, columns);
      const double prefix = columns.number().rounded(rounding_towards<Out>);
      if (exclusive) add(x, columns);
      const std::int32_t seen = place + (exclusive ? 0 : 1);
      to[place] = output_element<Out>(scan_order::with_specials(prefix, start.first, seen));
    }
    __syncthreads();
  }

 private:
  __device__ static void load_base(LimbRange range, const std::int64_t* limbs,
                                   DigitColumns& columns) {
    for (int i = static_cast<int>(threadIdx.x); i < ExactSum::limbs; i += column_threads)
      columns.base[i] = i >= range.first && i < range.first + range.count ? limbs[i] : 0;
  }

  __device__ double finite_element_at(std::int32_t place) const {
    const double x = widened(read_element<T>(block_, tile_, place));
    return std::isfinite(x) ? x : 0.0;
  }

  /// With one above the elements' highest for the sign and what sums carry.
  __device__ void find_columns(DigitColumns& columns) const {
    int first = ExactSum::limbs;
    int end = 0;
    for (std::int32_t place = first_; place < end_; ++place)
      ExactSum::digits(finite_element_at(place), [&](int i, std::int64_t) {
        first = min(first, i);
        end = max(end, i + 2);
      });
    kernels::find_columns(columns, first, end);
  }

  /// Makes the digits the sum of all before this thread's elements.
  __device__ void sum_up(DigitColumns& columns) const {
    const int count = columns.count();
    for (int i = 0; i <= count; ++i) columns.digit[i][threadIdx.x] = 0;
    for (std::int32_t place = first_; place < end_; ++place) add(finite_element_at(place), columns);
    digit_prefix(columns, [&](int i) -> std::int64_t {
      const std::uint32_t digit = columns.digit[i][threadIdx.x];
      if (i < count - 1) return digit;
      return i == count ? 0 : static_cast<std::int32_t>(digit);
    });
  }

  __device__ static void add(double x, DigitColumns& columns) {
    ExactSum::digits(x, [&](int limb, std::int64_t addend) {
      for (int i = limb - columns.first; addend != 0 && i <= columns.count(); ++i) {
        addend += columns.digit[i][threadIdx.x];
        columns.digit[i][threadIdx.x] = static_cast<std::uint32_t>(addend);
        addend >>= 32;
      }
    });
  }

  const BlockView& block_;
  const Tile& tile_;
  std::int32_t first_;
  std::int32_t end_;
};

}  // namespace warpfold::cuda::kernels
