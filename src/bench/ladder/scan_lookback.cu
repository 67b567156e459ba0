#include "bench/ladder/grid.hpp"
#include "bench/ladder/scan_kernels.hpp"
#include "bench/ladder/scan_tile.cuh"
#include "cuda/runtime/cuda_error.hpp"

// One pass (D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Lookback",
// 2016): each block publishes the sum of a tile, scans it in registers while others do the same,
// and looks back over the tiles before it, adding their sums, until it meets one that knows the sum
// of everything up to its end.

namespace warpfold::cuda::ladder {
namespace {

/// What is known of a tile, in one word, so that whoever sees the kind sees the value.
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

/// The sum of all tiles before `tile`, in every lane. A warp reads 32 tiles at a time, the lowest
/// lane the nearest.
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

void scan_lookback(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                   const LookbackScratch& scratch, cudaStream_t stream) {
  lookback_kernel<<<covering_blocks(elements, tile_elements), tile_threads, 0, stream>>>(
      input, elements, output, scratch);
  check_launch("starting a scan with look-back");
}

}  // namespace warpfold::cuda::ladder
