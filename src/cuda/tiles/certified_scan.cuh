#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/scan/scan_arithmetic.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/primitives/slices.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"
#include "cuda/tiles/write_prefixes.cuh"

/// Parts give each thread of a tile consecutive elements, though memory is read and written in
/// vectors that are consecutive in the warp.
///
/// Prefixes of a tile in pairs of doubles, in a quarter of the operations: summed exactly as
/// slices, in an order of their own, where it is certain that the order of scan_arithmetic.hpp
/// rounds to the same doubles. Each output is computed with all that both ways may err by added,
/// and subtracted: where both round to one double, so does everything between.
namespace warpfold::cuda::kernels {

inline constexpr int part_threads = 256;
inline constexpr int part_warps = part_threads / warp::lanes;
inline constexpr int part_elements = scan_order::tile_elements / part_threads;

template <class Elements>
inline constexpr int vectors_of = static_cast<int>(sizeof(Elements) / sizeof(uint4));

/// Vectors of a warp, on their way between the order of memory and that of lanes.
template <int Vectors>
struct WarpVectors {
  uint4 vector[Vectors * warp::lanes];

  /// Neither reads nor writes of eight lanes share banks.
  __device__ uint4& at(int i) { return vector[i ^ ((i >> 3) & 7)]; }
};

/// Room for a warp's parts of the widest type.
using PartStorage = WarpVectors<vectors_of<TileElements<double, part_elements>>>;

/// Returns the place in its tile of this thread's first element.
__device__ inline std::int32_t first_of_part() {
  return static_cast<std::int32_t>(threadIdx.x) * part_elements;
}

/// This thread's elements, zero past the end of the tile.
template <class T>
__device__ TileElements<T, part_elements> read_part(const BlockView& block, const Tile& tile,
                                                    PartStorage& storage) {
  using Elements = TileElements<T, part_elements>;
  constexpr int vectors = vectors_of<Elements>;
  struct Vectors {
    uint4 vector[vectors];
  };
  const T* from = reinterpret_cast<const T*>(block.input) + tile.first;
  Elements elements{};
  if (tile.full() && block.input_in_vectors()) {
    const auto* vector =
        reinterpret_cast<const uint4*>(from) + warp::index() * vectors * warp::lanes;
    Vectors own;
#pragma unroll
    for (int i = 0; i < vectors; ++i) own.vector[i] = vector[i * warp::lanes + warp::lane()];
#pragma unroll
    for (int i = 0; i < vectors; ++i) storage.at(i * warp::lanes + warp::lane()) = own.vector[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < vectors; ++i) own.vector[i] = storage.at(warp::lane() * vectors + i);
    elements = std::bit_cast<Elements>(own);
  } else {
#pragma unroll
    for (int k = 0; k < part_elements; ++k)
      if (first_of_part() + k < tile.count) elements.element[k] = from[first_of_part() + k];
  }
  if (block.format.order != native_byte_order) {
#pragma unroll
    for (T& element : elements.element) element = byte_swapped(element);
  }
  return elements;
}

/// Stores those of this thread's output elements that exist.
template <class Out>
__device__ void write_part(const BlockView& block, const Tile& tile,
                           const TileElements<Out, part_elements>& elements, PartStorage& storage) {
  using Elements = TileElements<Out, part_elements>;
  constexpr int vectors = vectors_of<Elements>;
  struct Vectors {
    uint4 vector[vectors];
  };
  Out* to = reinterpret_cast<Out*>(block.output) + tile.first;
  if (tile.full() && block.output_in_vectors()) {
    auto* vector = reinterpret_cast<uint4*>(to) + warp::index() * vectors * warp::lanes;
    const auto own = std::bit_cast<Vectors>(elements);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < vectors; ++i) storage.at(warp::lane() * vectors + i) = own.vector[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < vectors; ++i)
      vector[i * warp::lanes + warp::lane()] = storage.at(i * warp::lanes + warp::lane());
  } else {
#pragma unroll
    for (int k = 0; k < part_elements; ++k)
      if (first_of_part() + k < tile.count) to[first_of_part() + k] = elements.element[k];
  }
}

/// Returns what prefixes may err by, in a tile of elements below m = 2^exponent.
///
/// In pairs, a prefix passes at most 4 + 5 + 4 + 8 + 3 levels of additions, each of a relative
/// error below 3.1 * 2^-106 and of terms whose magnitudes add up to less than |base| + 2^12 m:
/// below 2^-99 of that. The slices' sums are exact; each of the five roundings that join them to
/// the base loses at most 2^-53 of 2^-51 |base| + 2^-25 m, together less than 2^-101 |base| + 2^-75
/// m. What the slices leave over is at most 2^-80 m of each of 2^12 elements.
///
/// Where they leave nothing, and hold the base as well, both ways are exact: all terms are
/// multiples of 2^-79 m and below 2^14 m, which pairs hold, and their lower parts are below 2^-26
/// m, which doubles hold.
__device__ inline double error_bound(const TileStart& start, bool left_over) {
  if (start.base_in_units != 0 && !left_over) return 0.0;
  const int exponent = PairSlices(start.exponent).exponent() - (left_over ? 67 : 74);
  const std::uint32_t word = power_word(max(exponent, -1022));
  return std::fabs(start.base.high) * 0x1p-98 + std::bit_cast<double>(std::uint64_t{word} << 32);
}

/// A sum of elements in units of slices.
struct SliceUnits {
  std::int64_t slice[PairSlices::count];
};

struct AddUnits {
  __device__ SliceUnits operator()(SliceUnits a, SliceUnits b) const {
    return {{a.slice[0] + b.slice[0], a.slice[1] + b.slice[1]}};
  }
};

/// What a thread does to its consecutive elements of a tile without huge or special ones.
class CertifiedPart {
 public:
  using Values = TileElements<double, part_elements>;

  __device__ CertifiedPart(const TileStart& start, const Values& values)
      : base_(start.base), none_(start.exponent), values_(values) {}

  /// Returns the elements' sum, and whether the slices leave anything of them.
  __device__ SliceUnits reduce(bool& left_over) const {
    std::uint64_t left = 0;
    PairSlices slices = none_;
#pragma unroll
    for (const double value : values_.element)
      left |= std::bit_cast<std::uint64_t>(slices.add(value));
    left_over = left << 1 != 0;
    return {{slices.units(0), slices.units(1)}};
  }

  /// Replaces the elements by their prefixes; returns whether any is uncertain.
  __device__ bool finish(SliceUnits before, double error, bool exclusive) {
    const DoublePair base = two_sum(base_.high, none_.value_of(0, before.slice[0]));
    const double rest = (base.low + none_.value_of(1, before.slice[1])) + base_.low;
    std::uint64_t difference = 0;
    PairSlices slices = none_;
#pragma unroll
    for (double& value : values_.element) {
      const PairSlices without = slices;
      slices.add(value);
      const double upper = exclusive ? without.biased(0) : slices.biased(0);
      const double lower = exclusive ? without.biased(1) : slices.biased(1);
      const DoublePair sum = two_sum(base.high, upper - none_.bias(0));
      const double low = sum.low + ((lower - none_.bias(1)) + rest);
      const double highest = sum.high + (low + error);
      const double lowest = sum.high + (low - error);
      difference |= std::bit_cast<std::uint64_t>(highest) ^ std::bit_cast<std::uint64_t>(lowest);
      value = highest;
    }
    return difference != 0;
  }

  template <class Out>
  __device__ TileElements<Out, part_elements> prefixes() const {
    TileElements<Out, part_elements> elements;
#pragma unroll
    for (int k = 0; k < part_elements; ++k)
      elements.element[k] = finite_element<Out>(values_.element[k]);
    return elements;
  }

 private:
  DoublePair base_;
  PairSlices none_;
  Values values_;
};

/// Returns the sum of all elements of the tile before this thread's. By the whole thread block.
__device__ inline SliceUnits units_before(SliceUnits own, bool& left_over) {
  __shared__ SliceUnits warp_total[part_warps];
  const SliceUnits lanes = warp::inclusive_scan(own, AddUnits{});
  if (warp::lane() == warp::lanes - 1) warp_total[warp::index()] = lanes;
  left_over = __syncthreads_or(left_over) != 0;
  SliceUnits before{{lanes.slice[0] - own.slice[0], lanes.slice[1] - own.slice[1]}};
#pragma unroll
  for (int i = 0; i < part_warps - 1; ++i)
    if (i < warp::index()) before = AddUnits{}(before, warp_total[i]);
  return before;
}

/// Scans a tile without huge or special elements. Returns false, and has stored nothing, where some
/// prefix is uncertain. To be called by a whole block of part_threads.
template <class Out>
__device__ bool scan_certified(const BlockView& block, const Tile& tile, const TileStart& start,
                               const CertifiedPart::Values& values, bool exclusive,
                               PartStorage& storage) {
  CertifiedPart part(start, values);
  bool left_over = false;
  const SliceUnits own = part.reduce(left_over);
  const SliceUnits before = units_before(own, left_over);
  const double error = error_bound(start, left_over);
  if (__syncthreads_or(part.finish(before, error, exclusive)) != 0) return false;
  write_part(block, tile, part.template prefixes<Out>(), storage);
  return true;
}

}  // namespace warpfold::cuda::kernels
