#include "cuda/select/keep_elements.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/scan/scan_lookback.cuh"

// Kept elements are written in one pass: a block counts those of its tile and learns where they go
// from the tiles before it (D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Lookback", 2016). Blocks number their tiles as they start, so that a tile waits for
// none that has not begun.

namespace warpfold::cuda::kernels {
namespace {

constexpr int keep_threads = 256;
constexpr int keep_blocks = 2;  ///< at least, of a multiprocessor: leaves registers enough
constexpr int keep_warps = keep_threads / warp::lanes;
constexpr int warp_rows = 16;
constexpr std::uint64_t warp_elements = warp_rows * warp::lanes;
constexpr std::uint64_t tile_elements = keep_warps * warp_elements;

using TileCount = PublishedAggregate<std::uint32_t>;

/// In place of an epoch, what a published count is of; 0 where none is published.
constexpr std::uint32_t tile_alone = 1;
constexpr std::uint32_t all_up_to_tile = 2;

/// Zeros before a launch.
struct KeepScratch {
  std::uint64_t tiles_begun;
  TileCount counts[1];  ///< one for each tile
};

template <class T>
struct KeepLaunch {
  const T* elements;
  std::uint64_t count;
  bool swapped_bytes;
  Decoding decoding;
  KeptTarget target;
  std::uint32_t tiles;

  __device__ KeepScratch& scratch() const {
    return *reinterpret_cast<KeepScratch*>(target.scratch);
  }
  __device__ T load(std::uint64_t i) const {
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const Word<T>*>(elements) + i));
  }
  __device__ T native(T element) const { return swapped_bytes ? byte_swapped(element) : element; }
};

/// In shared memory: where the warps of a block write.
struct TilePlaces {
  std::uint32_t tile;
  std::uint32_t before;  ///< kept by the tiles before
  std::uint32_t of_warp[keep_warps];
};

/// How many elements the tiles before `tile` keep. By a whole warp.
__device__ std::uint32_t kept_before(const TileCount* counts, std::uint32_t tile) {
  const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  std::uint32_t before = 0;
  for (std::int64_t nearest = std::int64_t{tile} - 1;; nearest -= warp::lanes) {
    const std::int64_t index = nearest - warp::lane();
    TileCount count = TileCount::of(0, all_up_to_tile);
    if (index >= 0) {
      do count = load_relaxed(counts + index);
      while (count.is_of(0));
    }
    const unsigned complete = warp::ballot(count.is_of(all_up_to_tile));
    const int last = complete == 0 ? warp::lanes : __ffs(static_cast<int>(complete)) - 1;
    before += warp::reduce_xor(warp::lane() <= last ? count.value() : 0u, plus);
    if (complete != 0) return before;
  }
}

/// Publishes what the tile keeps and finds where it writes. By the first warp.
template <class T>
__device__ void place_tile(const KeepLaunch<T>& keep, TilePlaces& places) {
  const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  TileCount* const counts = keep.scratch().counts;
  const bool is_warp = warp::lane() < keep_warps;
  const std::uint32_t all = warp::reduce_xor(is_warp ? places.of_warp[warp::lane()] : 0u, plus);
  if (warp::lane() == 0 && places.tile != 0)
    store_relaxed(counts + places.tile, TileCount::of(all, tile_alone));
  const std::uint32_t before = kept_before(counts, places.tile);
  if (warp::lane() != 0) return;
  store_relaxed(counts + places.tile, TileCount::of(before + all, all_up_to_tile));
  places.before = before;
  if (places.tile == keep.tiles - 1) *keep.target.count = std::uint64_t{before} + all;
}

/// Where the warp's first kept element goes. By all threads of the block.
template <class T>
__device__ std::uint32_t first_target(const KeepLaunch<T>& keep, std::uint32_t warp_keeps,
                                      TilePlaces& places) {
  if (warp::lane() == 0) places.of_warp[warp::index()] = warp_keeps;
  __syncthreads();
  if (warp::index() == 0) place_tile(keep, places);
  __syncthreads();
  std::uint32_t first = places.before;
  for (int other = 0; other < warp::index(); ++other) first += places.of_warp[other];
  return first;
}

/// A warp's part of a tile: rows of as many elements as there are lanes.
template <class T, class Value>
class WarpRows {
 public:
  __device__ WarpRows(const KeepLaunch<T>& keep, std::uint32_t tile)
      : keep_(keep),
        first_(tile * tile_elements + static_cast<unsigned>(warp::index()) * warp_elements +
               static_cast<unsigned>(warp::lane())) {}

  /// Returns how many are kept. No load waits for what is done with another's element.
  __device__ std::uint32_t decode_all() {
    T stored[warp_rows];
#pragma unroll
    for (int row = 0; row < warp_rows; ++row)
      stored[row] = place(row) < keep_.count ? keep_.load(place(row)) : T{};
    std::uint32_t keeps = 0;
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      const bool counts = decode<Value>(keep_.decoding, keep_.native(stored[row]), value_[row]);
      kept_[row] = warp::ballot(counts && place(row) < keep_.count);
      keeps += static_cast<unsigned>(__popc(kept_[row]));
    }
    return keeps;
  }

  /// The kept ones, to `next` and on.
  __device__ void write(std::uint32_t next) const {
    auto* const values = reinterpret_cast<Value*>(keep_.target.values);
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      if ((kept_[row] >> warp::lane() & 1) != 0) {
        const std::uint32_t to = next + warp::rank_among(kept_[row]);
        values[to] = value_[row];
        if (keep_.target.places != nullptr)
          keep_.target.places[to] = static_cast<std::uint32_t>(place(row));
      }
      next += static_cast<unsigned>(__popc(kept_[row]));
    }
  }

 private:
  __device__ std::uint64_t place(int row) const {
    return first_ + static_cast<unsigned>(row * warp::lanes);
  }

  const KeepLaunch<T>& keep_;
  std::uint64_t first_;
  Value value_[warp_rows];
  unsigned kept_[warp_rows];  ///< lanes
};

template <class T, class Value>
__global__ void __launch_bounds__(keep_threads, keep_blocks) keep_kernel(const KeepLaunch<T> keep) {
  __shared__ TilePlaces places;
  if (threadIdx.x == 0)
    places.tile = static_cast<std::uint32_t>(
        atomicAdd(reinterpret_cast<unsigned long long*>(&keep.scratch().tiles_begun), 1ull));
  __syncthreads();
  WarpRows<T, Value> rows(keep, places.tile);
  rows.write(first_target(keep, rows.decode_all(), places));
}

template <class T, class Value>
__global__ void __launch_bounds__(keep_threads)
    decode_kernel(const KeepLaunch<T> decoding, Value substitute) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * keep_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * keep_threads + threadIdx.x; i < decoding.count;
       i += stride) {
    Value value;
    if (!decode<Value>(decoding.decoding, decoding.native(decoding.elements[i]), value))
      value = substitute;
    reinterpret_cast<Value*>(decoding.target.values)[i] = value;
  }
}

/// Calls visitor(stored element, value), both value-initialised.
template <class Visitor>
void visit_decoding(const StoredElements& stored, Visitor&& visitor) {
  visit_element_type(stored.format.type, [&](auto element) {
    if (!stored.decoding.unpacking.active)
      visitor(element, element);
    else if (stored.decoding.unpacking.type == ElementType::f32)
      visitor(element, float{});
    else
      visitor(element, double{});
  });
}

template <class T>
KeepLaunch<T> launch_of(const StoredElements& stored, const KeptTarget& target) {
  return {.elements = reinterpret_cast<const T*>(stored.elements),
          .count = stored.count,
          .swapped_bytes = stored.format.order != native_byte_order,
          .decoding = stored.decoding,
          .target = target,
          .tiles = static_cast<std::uint32_t>(ceil_div(stored.count, tile_elements))};
}

/// Of threads that take four elements each at least; as many as fill any GPU several times.
unsigned decoding_blocks(std::uint64_t elements) {
  constexpr std::uint64_t max_blocks = 1 << 14;
  return static_cast<unsigned>(std::min(ceil_div(elements, 4 * keep_threads), max_blocks));
}

}  // namespace

std::uint64_t keep_scratch_bytes(std::uint64_t elements) {
  return offsetof(KeepScratch, counts) + ceil_div(elements, tile_elements) * sizeof(TileCount);
}

void keep_elements(const StoredElements& stored, const KeptTarget& target, cudaStream_t stream) {
  if (stored.count == 0) return fill_bytes(target.count, 0, sizeof(*target.count), stream);
  fill_bytes(target.scratch, 0, keep_scratch_bytes(stored.count), stream);
  visit_decoding(stored, [&](auto element, auto value) {
    const auto launch = launch_of<decltype(element)>(stored, target);
    keep_kernel<decltype(element), decltype(value)>
        <<<launch.tiles, keep_threads, 0, stream>>>(launch);
  });
  check_launch("starting to keep elements on the GPU");
}

void decode_elements(const StoredElements& stored, std::uint64_t substitute, std::byte* values,
                     cudaStream_t stream) {
  if (stored.count == 0) return;
  visit_decoding(stored, [&](auto element, auto value) {
    using Value = decltype(value);
    const auto bits = static_cast<Word<Value>>(substitute);
    decode_kernel<decltype(element), Value>
        <<<decoding_blocks(stored.count), keep_threads, 0, stream>>>(
            launch_of<decltype(element)>(stored, {.values = values}), std::bit_cast<Value>(bits));
  });
  check_launch("starting to decode on the GPU");
}

}  // namespace warpfold::cuda::kernels
