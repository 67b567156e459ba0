#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/numeric/slices.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"
#include "cuda/tiles/write_prefixes.cuh"

/// Parts give each thread of a tile consecutive elements, though memory is read and written in
/// vectors that are consecutive in the warp.
///
/// Prefixes of a tile where slices settle them all, as scan_arithmetic.hpp says.
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

/// A sum of elements in units of slices.
struct SliceUnits {
  std::int64_t slice[scan_order::TileSlices::count];
};

struct AddUnits {
  __device__ SliceUnits operator()(SliceUnits a, SliceUnits b) const {
    return {{a.slice[0] + b.slice[0], a.slice[1] + b.slice[1]}};
  }
};

/// high + low rounded to an output element, if that is the same for low +- error.
template <class Out>
struct CertainPrefix {
  Out value;
  bool certain;

  __device__ CertainPrefix(double high, double low, double error) {
    Out lowest;
    if constexpr (std::is_same_v<Out, double>) {
      value = high + (low + error);
      lowest = high + (low - error);
    } else {
      value = finite_element<Out>(__dadd_ru(high, low + error));
      // Rounded down, nothing would be -0.
      lowest = finite_element<Out>(__dadd_rd(high, low - error) + 0.0);
    }
    certain = value_bits(value) == value_bits(lowest);
  }
};

/// What a thread does to its consecutive elements of a tile, finite and short of huge.
class CertifiedPart {
 public:
  using Values = TileElements<double, part_elements>;

  __device__ CertifiedPart(const TileStart& start, const Values& values)
      : base_(start.base.sum), none_(start.exponent), values_(values) {}

  /// Returns the elements' sum, and what the slices make of them.
  __device__ SliceUnits reduce(scan_order::SliceUse& use) const {
    std::uint64_t second = 0;
    std::uint64_t left = 0;
    TileSlices slices = none_;
#pragma unroll
    for (const double value : values_.element) {
      const auto before = std::bit_cast<std::uint64_t>(slices.biased(1));
      left |= std::bit_cast<std::uint64_t>(slices.add(value));
      second |= before ^ std::bit_cast<std::uint64_t>(slices.biased(1));
    }
    use = {second != 0, left << 1 != 0};
    return {{slices.units(0), slices.units(1)}};
  }

  /// Returns the elements' prefixes; tells whether all are certain.
  template <class Out>
  __device__ TileElements<Out, part_elements> finish(SliceUnits before, double error,
                                                     bool exclusive, bool& certain) const {
    const DoublePair base = two_sum(base_.high, none_.value_of(0, before.slice[0]));
    const double rest = none_.value_of(1, before.slice[1]) + base_.low;
    TileElements<Out, part_elements> prefixes;
    certain = true;
    TileSlices slices = none_;
#pragma unroll
    for (int k = 0; k < part_elements; ++k) {
      const TileSlices without = slices;
      slices.add(values_.element[k]);
      const double upper = exclusive ? without.biased(0) : slices.biased(0);
      const double lower = exclusive ? without.biased(1) : slices.biased(1);
      const DoublePair sum = two_sum(base.high, upper - none_.bias(0));
      const double low = (sum.low + base.low) + ((lower - none_.bias(1)) + rest);
      const CertainPrefix<Out> prefix(sum.high, low, error);
      certain = certain && prefix.certain;
      prefixes.element[k] = prefix.value;
    }
    return prefixes;
  }

 private:
  using TileSlices = scan_order::TileSlices;

  DoublePair base_;
  TileSlices none_;
  Values values_;
};

/// Returns the sum of all elements of the tile before this thread's. By the whole thread block.
__device__ inline SliceUnits units_before(SliceUnits own, scan_order::SliceUse& use) {
  __shared__ SliceUnits warp_total[part_warps];
  const SliceUnits lanes = warp::inclusive_scan(own, AddUnits{});
  if (warp::lane() == warp::lanes - 1) warp_total[warp::index()] = lanes;
  use = {__syncthreads_or(use.second) != 0, __syncthreads_or(use.left_over) != 0};
  SliceUnits before{{lanes.slice[0] - own.slice[0], lanes.slice[1] - own.slice[1]}};
#pragma unroll
  for (int i = 0; i < part_warps - 1; ++i)
    if (i < warp::index()) before = AddUnits{}(before, warp_total[i]);
  return before;
}

__device__ inline void drop_specials(CertifiedPart::Values& values) {
#pragma unroll
  for (double& value : values.element)
    if (!std::isfinite(value)) value = 0.0;
}

/// Puts NaN and infinities in the place of the prefixes that specials make so.
template <class Out>
__device__ void settle_specials(scan_order::TileSpecials first, bool exclusive,
                                TileElements<Out, part_elements>& prefixes) {
#pragma unroll
  for (int k = 0; k < part_elements; ++k) {
    const std::int32_t seen = first_of_part() + k + (exclusive ? 0 : 1);
    const double special = scan_order::with_specials(0.0, first, seen);
    if (special != 0.0) prefixes.element[k] = output_element<Out>(special);
  }
}

/// Scans a tile without huge elements. Returns false, and has stored nothing, where some
/// prefix is uncertain. To be called by a whole block of part_threads.
template <class Out>
__device__ bool scan_certified(const BlockView& block, const Tile& tile, const TileStart& start,
                               CertifiedPart::Values& values, bool exclusive,
                               PartStorage& storage) {
  if (start.first.any()) drop_specials(values);
  const CertifiedPart part(start, values);
  scan_order::SliceUse use;
  const SliceUnits own = part.reduce(use);
  const SliceUnits before = units_before(own, use);
  const double error = scan_order::error_bound(start.base, start.exponent, use);
  bool certain = true;
  auto prefixes = part.template finish<Out>(before, error, exclusive, certain);
  if (__syncthreads_or(!certain) != 0) return false;
  if (start.first.any()) settle_specials(start.first, exclusive, prefixes);
  write_part(block, tile, prefixes, storage);
  return true;
}

}  // namespace warpfold::cuda::kernels
