#include <bit>
#include <cmath>

#include "core/numeric/slices.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr int reduce_threads = 128;
constexpr int reduce_warps = reduce_threads / warp::lanes;
constexpr int share_elements = 8;
constexpr int step_elements = share_elements * warp::lanes;
constexpr int tile_steps = scan_order::tile_elements / step_elements;

/// How much larger than all before it an element may be without a new choice of slices.
constexpr int exponent_reserve = 8;
constexpr int huge_exponent = 960;
static_assert(scan_order::huge == 0x1p960);

/// Few are left over by two slices of narrow elements, by three of doubles.
template <class T>
inline constexpr int slice_count = sizeof(T) == sizeof(double) ? 3 : 2;

__device__ std::uint32_t warp_maximum(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(warp::all_lanes, value);
#else
#pragma unroll
  for (int delta = warp::lanes / 2; delta > 0; delta /= 2)
    value = max(value, __shfl_xor_sync(warp::all_lanes, value, delta));
  return value;
#endif
}

__device__ std::uint32_t upper_word(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
}

__device__ std::uint32_t lower_word(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value));
}

__device__ void add_atomically(std::int64_t& limb, std::int64_t addend) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&limb), static_cast<unsigned long long>(addend));
}

/// What a lane reads of a tile at a time: vectors that are consecutive in the warp.
template <class T>
struct Share {
  static constexpr int vector_elements = 16 / static_cast<int>(sizeof(T));

  T element[share_elements];

  /// Returns the place in its tile of element i of this lane's share in a step.
  __device__ static std::int32_t place(int step, int i) {
    const int vector = i / vector_elements * warp::lanes + warp::lane();
    return step * step_elements + vector * vector_elements + i % vector_elements;
  }
};

/// Loads elements of a full tile at an address that is aligned to vectors.
template <class T>
__device__ Share<T> load_vectors(const T* elements, int step) {
  constexpr int vector_elements = Share<T>::vector_elements;
  struct Vector {
    T element[vector_elements];
  };
  Share<T> share;
#pragma unroll
  for (int i = 0; i < share_elements; i += vector_elements) {
    const auto vector =
        std::bit_cast<Vector>(*reinterpret_cast<const uint4*>(elements + Share<T>::place(step, i)));
#pragma unroll
    for (int k = 0; k < vector_elements; ++k) share.element[i + k] = vector.element[k];
  }
  return share;
}

/// Loads elements of any tile; zero past its end.
template <class T>
__device__ Share<T> load_singly(const T* elements, const Tile& tile, int step) {
  Share<T> share{};
#pragma unroll
  for (int i = 0; i < share_elements; ++i) {
    const std::int32_t place = Share<T>::place(step, i);
    if (place < tile.count) share.element[i] = elements[place];
  }
  return share;
}

template <class T>
__device__ void widen(Share<T> share, ByteOrder order, double (&values)[share_elements]) {
  if (order != native_byte_order) {
#pragma unroll
    for (T& element : share.element) element = byte_swapped(element);
  }
#pragma unroll
  for (int i = 0; i < share_elements; ++i) values[i] = widened(share.element[i]);
}

/// What the lanes of a warp find in a tile, in shared memory.
struct TileRecord {
  ExactSum sum;
  scan_order::TileSpecials first;
  std::int32_t any_huge;
  unsigned count[NonFinite::kinds];

  /// By all lanes.
  __device__ void clear() {
    for (int i = warp::lane(); i < ExactSum::limbs; i += warp::lanes) sum.limb[i] = 0;
    if (warp::lane() < NonFinite::kinds) count[warp::lane()] = 0;
    constexpr int none = scan_order::tile_elements;
    if (warp::lane() == 0) {
      first = {none, none, none};
      any_huge = 0;
    }
    __syncwarp();
  }

  /// An element of at least scan_order::huge, or not a number.
  __device__ void absorb_exception(double x, std::int32_t place) {
    if (x != x) {
      atomicAdd(&count[0], 1u);
      atomicMin(&first.nan, place);
    } else if (std::isinf(x)) {
      atomicAdd(&count[x > 0 ? 1 : 2], 1u);
      atomicMin(x > 0 ? &first.positive_infinity : &first.negative_infinity, place);
    } else {
      atomicOr(&any_huge, 1);
      ExactSum::digits(x,
                       [this](int i, std::int64_t addend) { add_atomically(sum.limb[i], addend); });
    }
  }

  /// Limb `i` after one step of carrying: fewer than 2^14 additions of less than 2^32 leave a carry
  /// below 2^14. The top limb holds carries only.
  __device__ std::int64_t carried_limb(int i) const {
    const std::int64_t digit = i < ExactSum::limbs - 1 ? sum.limb[i] & 0xffffffff : sum.limb[i];
    return i == 0 ? digit : digit + (sum.limb[i - 1] >> 32);
  }
};

/// A warp's way through a tile.
template <int SliceCount>
class TileReduce {
 public:
  using Values = double[share_elements];

  __device__ explicit TileReduce(TileRecord& record) : record_(record), slices_(0) {}

  /// absorb_exception(i) is to see to value i of this lane. Clobbers the values.
  template <class AbsorbException>
  __device__ void add(Values& values, AbsorbException absorb_exception) {
    std::uint32_t top = highest_word(values);
    if (__any_sync(warp::all_lanes, top >= limit_)) top = prepare(values, absorb_exception);
    top_ = max(top_, top);
    bool left = slice(values, slices_);
    while (__any_sync(warp::all_lanes, left)) {
      Slices<SliceCount> rest(exponent_above(warp_maximum(highest_word(values))));
      left = slice(values, rest);
      absorb(rest);
    }
  }

  __device__ void finish() { absorb(slices_); }

  /// Such that all elements short of huge are below 2^exponent.
  __device__ std::int32_t exponent() const { return exponent_above(warp_maximum(top_)); }

 private:
  __device__ static std::uint32_t highest_word(const Values& values) {
    std::uint32_t top = 0;
#pragma unroll
    for (const double value : values) top = max(top, magnitude_word(value));
    return top;
  }

  /// Replaces the values by what is left of them; returns whether anything is.
  __device__ static bool slice(Values& values, Slices<SliceCount>& slices) {
    std::uint32_t upper = 0;
    std::uint32_t lower = 0;
#pragma unroll
    for (double& value : values) {
      value = slices.add(value);
      upper |= upper_word(value);
      lower |= lower_word(value);
    }
    return (upper << 1 | lower) != 0;
  }

  /// Takes out what no slices can hold, and makes slices that hold the rest.
  template <class AbsorbException>
  __device__ std::uint32_t prepare(Values& values, AbsorbException absorb_exception) {
    unsigned exceptions = 0;
#pragma unroll
    for (int i = 0; i < share_elements; ++i) {
      if (magnitude_word(values[i]) < power_word(huge_exponent)) continue;
      exceptions |= 1u << i;
      values[i] = 0.0;
    }
    for (; exceptions != 0; exceptions &= exceptions - 1)
      absorb_exception(__ffs(static_cast<int>(exceptions)) - 1);
    __syncwarp();
    const std::uint32_t top = highest_word(values);
    const std::uint32_t warp_top = warp_maximum(top);
    if (warp_top >= limit_) {
      absorb(slices_);
      slices_ = Slices<SliceCount>(exponent_above(warp_top) + exponent_reserve);
      limit_ = power_word(min(slices_.exponent(), huge_exponent));
    }
    return top;
  }

  __device__ void absorb(const Slices<SliceCount>& slices) {
#pragma unroll
    for (int i = 0; i < SliceCount; ++i) {
      const double sum = warp::reduce(slices.sum(i), [](double a, double b) { return a + b; });
      if (warp::lane() == 0) record_.sum.add(sum);
    }
    __syncwarp();
  }

  TileRecord& record_;
  Slices<SliceCount> slices_;
  std::uint32_t limit_ = 0;  ///< upper words from here on do not fit the slices
  std::uint32_t top_ = 0;
};

/// Stores the tile's limbs from the first to the last that is not zero, and adds them to those of
/// the tile's group.
__device__ LimbRange write_limbs(const TileRecord& record, std::uint64_t tile,
                                 const FloatTileTotals& totals) {
  int first = ExactSum::limbs;
  int end = 0;
#pragma unroll
  for (int base = 0; base < ExactSum::limbs; base += warp::lanes) {
    const int i = base + warp::lane();
    const bool used = i < ExactSum::limbs && record.carried_limb(i) != 0;
    const unsigned lanes = __ballot_sync(warp::all_lanes, used);
    if (lanes == 0) continue;
    first = min(first, base + __ffs(static_cast<int>(lanes)) - 1);
    end = base + warp::lanes - __clz(static_cast<int>(lanes));
  }
  std::int64_t* row = totals.limbs + tile * ExactSum::limbs;
  const std::uint64_t group = tile / totals.groups.tiles_each;
  for (int i = first + warp::lane(); i < end; i += warp::lanes) {
    const std::int64_t limb = record.carried_limb(i);
    row[i] = limb;
    add_atomically(totals.group_limbs[static_cast<unsigned>(i) * totals.groups.count + group],
                   limb);
  }
  return {first, max(end - first, 0)};
}

/// By all lanes.
__device__ void write_record(const TileRecord& record, std::int32_t exponent, std::uint64_t tile,
                             const FloatTileTotals& totals, NonFinite& non_finite) {
  const LimbRange range = write_limbs(record, tile, totals);
  if (warp::lane() == 0) totals.traits[tile] = {record.first, record.any_huge, exponent, range};
  const unsigned count = warp::lane() < NonFinite::kinds ? record.count[warp::lane()] : 0;
  if (count == 0) return;
  atomicAdd(&non_finite.count[warp::lane()], static_cast<unsigned long long>(count));
  atomicMin(&non_finite.first_tile[warp::lane()], static_cast<unsigned long long>(tile));
}

/// A warp reduces a tile. Exact sums know no order, so that lanes take the elements as they are
/// read best.
template <class T>
__global__ void __launch_bounds__(reduce_threads)
    float_tile_totals_kernel(const BlockView block, const FloatTileTotals totals,
                             NonFinite* non_finite) {
  __shared__ TileRecord records[reduce_warps];
  const std::uint64_t index =
      std::uint64_t{blockIdx.x} * reduce_warps + static_cast<unsigned>(warp::index());
  if (index * scan_order::tile_elements >= block.elements) return;
  const Tile tile(block, index);
  TileRecord& record = records[warp::index()];
  record.clear();
  TileReduce<slice_count<T>> reduce(record);
  const T* elements = input_of<T>(block, tile);
  const bool vectors = tile.full() && block.input_in_vectors();
  Share<T> next{};
  if (vectors) next = load_vectors(elements, 0);
#pragma unroll 1
  for (int step = 0; step < tile_steps; ++step) {
    const Share<T> share = vectors ? next : load_singly(elements, tile, step);
    if (vectors && step + 1 < tile_steps) next = load_vectors(elements, step + 1);
    double values[share_elements];
    widen(share, block.format.order, values);
    reduce.add(values, [&](int i) {
      const std::int32_t place = Share<T>::place(step, i);
      record.absorb_exception(widened(read_element<T>(block, tile, place)), place);
    });
  }
  reduce.finish();
  write_record(record, reduce.exponent(), index, totals, *non_finite);
}

}  // namespace

void float_tile_totals(const BlockView& block, const FloatTileTotals& totals, NonFinite* non_finite,
                       cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (is_floating_element<T>) {
      launch("starting the reduction of a block on the GPU", float_tile_totals_kernel<T>,
             {ceil_div(block.tiles(), reduce_warps), reduce_threads, stream}, block, totals,
             non_finite);
    }
  });
}

}  // namespace warpfold::cuda::kernels
