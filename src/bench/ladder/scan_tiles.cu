#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"

// Scans that keep tiles in registers, several elements a thread.

namespace warpfold::bench::ladder {
namespace {

namespace warp = cuda::warp;

constexpr int tile_warps = tile_threads / warp::lanes;
constexpr int tile_rows = tile_elements / tile_threads;

struct Plus {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

/// A block's tile in the registers of its threads: each warp has a segment of it, row by row, a
/// lane one element of each row. Past the end of the array it is zero.
class Tile {
 public:
  __device__ Tile(const std::uint32_t* input, std::uint64_t elements, std::uint64_t tile)
      : first_(tile * tile_elements + own_offset()), count_(rows_within(elements)) {
#pragma unroll
    for (int row = 0; row < tile_rows; ++row)
      value_[row] = row < count_ ? input[first_ + row * warp::lanes] : 0;
  }

  /// Sums the lane's own elements.
  __device__ std::uint32_t lane_sum() const {
    std::uint32_t sum = 0;
#pragma unroll
    for (const std::uint32_t value : value_) sum += value;
    return sum;
  }

  /// Replaces the elements by their inclusive prefix sums in the warp's segment.
  __device__ void scan_segment() {
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t& value : value_) {
      value = sum + warp::inclusive_scan(value, Plus{});
      sum = warp::shuffle(value, warp::lanes - 1);
    }
  }

  __device__ void store(std::uint32_t* output, std::uint32_t base) const {
#pragma unroll
    for (int row = 0; row < tile_rows; ++row)
      if (row < count_) output[first_ + row * warp::lanes] = base + value_[row];
  }

 private:
  /// Returns where the lane's first element is in the tile.
  __device__ static std::uint64_t own_offset() {
    return static_cast<std::uint64_t>(warp::index() * tile_rows * warp::lanes + warp::lane());
  }

  /// Counts the rows in which the lane's element exists.
  __device__ int rows_within(std::uint64_t elements) const {
    if (first_ >= elements) return 0;
    const std::uint64_t rows = (elements - first_ + warp::lanes - 1) / warp::lanes;
    return rows < tile_rows ? static_cast<int>(rows) : tile_rows;
  }

  std::uint64_t first_;
  int count_;
  std::uint32_t value_[tile_rows];
};

__device__ std::uint32_t own_warp_sum(const std::uint32_t* warp_sums) {
  return warp::lane() < tile_warps ? warp_sums[warp::lane()] : 0;
}

/// Sums a tile by all threads, each of which gets the sum; leaves the warps' sums in shared memory.
__device__ std::uint32_t sum_tile(const Tile& tile, std::uint32_t* warp_sums) {
  const std::uint32_t warp_sum = warp::reduce(tile.lane_sum(), Plus{});
  if (warp::lane() == 0) warp_sums[warp::index()] = warp_sum;
  __syncthreads();
  return warp::reduce_xor(own_warp_sum(warp_sums), Plus{});
}

/// Finds, by one warp, what precedes each warp of a tile, given what precedes the tile.
__device__ void find_bases(const std::uint32_t* warp_sums, std::uint32_t before,
                           std::uint32_t* warp_bases) {
  const std::uint32_t own = own_warp_sum(warp_sums);
  const std::uint32_t inclusive = warp::inclusive_scan(own, Plus{});
  if (warp::lane() < tile_warps) warp_bases[warp::lane()] = before + inclusive - own;
}

// Two passes: the sums of tiles, and, once these are scanned, the tiles from them on.

__global__ void __launch_bounds__(tile_threads)
    sum_tiles_kernel(const std::uint32_t* input, const std::uint64_t elements,
                     std::uint32_t* tile_sums) {
  __shared__ std::uint32_t warp_sums[tile_warps];
  const Tile tile(input, elements, blockIdx.x);
  const std::uint32_t tile_sum = sum_tile(tile, warp_sums);
  if (threadIdx.x == 0) tile_sums[blockIdx.x] = tile_sum;
}

__global__ void __launch_bounds__(tile_threads)
    scan_tiles_kernel(const std::uint32_t* input, const std::uint64_t elements,
                      const std::uint32_t* scanned_tile_sums, std::uint32_t* output) {
  __shared__ std::uint32_t warp_sums[tile_warps];
  __shared__ std::uint32_t warp_bases[tile_warps];
  Tile tile(input, elements, blockIdx.x);
  sum_tile(tile, warp_sums);
  if (warp::index() == 0)
    find_bases(warp_sums, blockIdx.x == 0 ? 0 : scanned_tile_sums[blockIdx.x - 1], warp_bases);
  tile.scan_segment();
  __syncthreads();
  tile.store(output, warp_bases[warp::index()]);
}

// One pass (D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Lookback",
// 2016): each block publishes the sum of a tile, scans it in registers while others do the same,
// and looks back over the tiles before it, adding their sums, until it meets one that knows the sum
// of everything up to its end.

/// State of a tile, in one word, so that a thread that sees the kind also sees the value.
struct TileState {
  enum Kind : std::uint32_t { nothing, sum, prefix };

  Kind kind;
  std::uint32_t value;

  __device__ void publish(std::uint64_t* word) const {
    *static_cast<volatile std::uint64_t*>(word) = std::uint64_t{kind} << 32 | value;
  }

  /// Waits until something is known.
  __device__ static TileState read(const std::uint64_t* word) {
    std::uint64_t bits = 0;
    while (bits == 0) bits = *static_cast<const volatile std::uint64_t*>(word);
    return {static_cast<Kind>(bits >> 32), static_cast<std::uint32_t>(bits)};
  }
};

/// Returns the sum of all tiles before `tile`, in every lane. A warp reads 32 tiles at a time, the
/// lowest lane the nearest.
__device__ std::uint32_t lookback(const std::uint64_t* states, std::uint64_t tile) {
  std::uint32_t sum = 0;
  for (std::int64_t nearest = static_cast<std::int64_t>(tile) - 1;; nearest -= warp::lanes) {
    const std::int64_t own = nearest - warp::lane();
    const TileState state =
        own < 0 ? TileState{TileState::prefix, 0} : TileState::read(states + own);
    const unsigned prefixes = warp::ballot(state.kind == TileState::prefix);
    const unsigned needed = prefixes ^ (prefixes - 1);
    sum += warp::reduce_xor((needed >> warp::lane() & 1) != 0 ? state.value : 0, Plus{});
    if (prefixes != 0) return sum;
  }
}

/// Blocks take tiles in the order in which they start, not by their own number: a tile that is
/// waited for is in a block that runs.
__device__ std::uint64_t next_tile(unsigned* tickets) {
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1);
  __syncthreads();
  return ticket;
}

__global__ void __launch_bounds__(tile_threads)
    lookback_kernel(const std::uint32_t* input, const std::uint64_t elements, std::uint32_t* output,
                    const LookbackScratch scratch) {
  __shared__ std::uint32_t warp_sums[tile_warps];
  __shared__ std::uint32_t warp_bases[tile_warps];
  const std::uint64_t number = next_tile(scratch.tickets);
  std::uint64_t* const state = scratch.states + number;
  Tile tile(input, elements, number);
  const std::uint32_t sum = sum_tile(tile, warp_sums);
  if (threadIdx.x == 0) TileState{TileState::sum, sum}.publish(state);
  tile.scan_segment();
  if (warp::index() == 0) {
    const std::uint32_t before = lookback(scratch.states, number);
    if (warp::lane() == 0) TileState{TileState::prefix, before + sum}.publish(state);
    find_bases(warp_sums, before, warp_bases);
  }
  __syncthreads();
  tile.store(output, warp_bases[warp::index()]);
}

}  // namespace

void sum_tiles(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* tile_sums,
               cudaStream_t stream) {
  cuda::launch("starting the sums of tiles", sum_tiles_kernel,
               {covering_blocks(elements, tile_elements), tile_threads, stream}, input, elements,
               tile_sums);
}

void scan_tiles(const std::uint32_t* input, std::uint64_t elements,
                const std::uint32_t* scanned_tile_sums, std::uint32_t* output,
                cudaStream_t stream) {
  cuda::launch("starting a scan of tiles", scan_tiles_kernel,
               {covering_blocks(elements, tile_elements), tile_threads, stream}, input, elements,
               scanned_tile_sums, output);
}

void scan_lookback(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                   const LookbackScratch& scratch, cudaStream_t stream) {
  cuda::launch("starting a scan with look-back", lookback_kernel,
               {covering_blocks(elements, tile_elements), tile_threads, stream}, input, elements,
               output, scratch);
}

}  // namespace warpfold::bench::ladder
