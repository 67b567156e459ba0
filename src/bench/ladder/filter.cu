#include <cooperative_groups.h>

#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"

// Elements greater than a threshold are written one after the other, in any order. Where one goes
// is what a counter said when it was incremented; the kernels differ in how many increments share
// one atomic addition.

namespace warpfold::bench::ladder {
namespace {

namespace warp = cuda::warp;

constexpr unsigned filter_threads = 256;
constexpr unsigned filter_warps = filter_threads / warp::lanes;
constexpr int filter_rows = 16;

__device__ std::uint64_t own_index() {
  return std::uint64_t{blockIdx.x} * filter_threads + threadIdx.x;
}

/// Every element is counted, as 0 or 1. Lanes that add different numbers can't share an addition.
template <class T>
__global__ void __launch_bounds__(filter_threads) filter_by_all_kernel(const Filter<T> filter) {
  const std::uint64_t i = own_index();
  if (i >= filter.elements) return;
  const T element = filter.input[i];
  const bool is_selected = element > filter.threshold;
  const unsigned long long at = atomicAdd(filter.count, is_selected ? 1ull : 0ull);
  if (is_selected) filter.selected[at] = element;
}

/// Adds for each lane. As lanes add the same number to the same counter, compilers make one
/// addition of them, as the next two do by hand.
struct PlainIncrement {
  __device__ static unsigned long long next(unsigned long long* count) {
    return atomicAdd(count, 1ull);
  }
};

/// Adds once for the lanes of a warp that come here together (A. Adinets, "CUDA Pro Tip: Optimized
/// Filtering with Warp-Aggregated Atomics", 2014).
struct WarpIncrement {
  __device__ static unsigned long long next(unsigned long long* count) {
    const unsigned active = __activemask();
    const int leader = __ffs(static_cast<int>(active)) - 1;
    unsigned long long first = 0;
    if (warp::lane() == leader)
      first = atomicAdd(count, static_cast<unsigned long long>(__popc(active)));
    return __shfl_sync(active, first, leader) + warp::rank_among(active);
  }
};

/// Adds once for the lanes of a warp that come here together, as a cooperative group.
struct GroupIncrement {
  __device__ static unsigned long long next(unsigned long long* count) {
    const auto group = cooperative_groups::coalesced_threads();
    unsigned long long first = 0;
    if (group.thread_rank() == 0)
      first = atomicAdd(count, static_cast<unsigned long long>(group.size()));
    return group.shfl(first, 0) + group.thread_rank();
  }
};

template <class Increment, class T>
__global__ void __launch_bounds__(filter_threads) filter_kernel(const Filter<T> filter) {
  const std::uint64_t i = own_index();
  if (i >= filter.elements) return;
  const T element = filter.input[i];
  if (element > filter.threshold) filter.selected[Increment::next(filter.count)] = element;
}

/// Returns where each warp of the block begins to write, given how many elements it selects, by one
/// addition for the block.
__device__ unsigned long long reserve(unsigned warp_selected, unsigned long long* count) {
  __shared__ unsigned selected[filter_warps];
  __shared__ unsigned long long first;
  if (warp::lane() == 0) selected[warp::index()] = warp_selected;
  __syncthreads();
  unsigned below = 0;
  unsigned all = 0;
  for (int other = 0; other < static_cast<int>(filter_warps); ++other) {
    if (other < warp::index()) below += selected[other];
    all += selected[other];
  }
  if (threadIdx.x == 0) first = atomicAdd(count, static_cast<unsigned long long>(all));
  __syncthreads();
  return first + below;
}

template <class T, int Rows>
__global__ void __launch_bounds__(filter_threads) filter_tile_kernel(const Filter<T> filter) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * (filter_threads * Rows) + threadIdx.x;
  T element[Rows];
  unsigned selected[Rows];
  unsigned warp_selected = 0;
#pragma unroll
  for (int row = 0; row < Rows; ++row) {
    const std::uint64_t i = first + row * filter_threads;
    element[row] = i < filter.elements ? filter.input[i] : filter.threshold;
  }
#pragma unroll
  for (int row = 0; row < Rows; ++row) {
    selected[row] = warp::ballot(element[row] > filter.threshold);
    warp_selected += static_cast<unsigned>(__popc(selected[row]));
  }
  T* next = filter.selected + reserve(warp_selected, filter.count);
#pragma unroll
  for (int row = 0; row < Rows; ++row) {
    if (element[row] > filter.threshold) next[warp::rank_among(selected[row])] = element[row];
    next += __popc(selected[row]);
  }
}

template <class Increment, class T>
void launch(const Filter<T>& filter, cudaStream_t stream) {
  cuda::launch("starting a filter with an increment an element", filter_kernel<Increment, T>,
               {covering_blocks(filter.elements, filter_threads), filter_threads, stream}, filter);
}

template <int Rows, class T>
void launch_tiles(const Filter<T>& filter, cudaStream_t stream) {
  cuda::launch("starting a filter with an increment a block", filter_tile_kernel<T, Rows>,
               {covering_blocks(filter.elements, filter_threads * Rows), filter_threads, stream},
               filter);
}

}  // namespace

template <class T>
void filter_by_all(const Filter<T>& filter, cudaStream_t stream) {
  cuda::launch("starting a filter with an addition an element", filter_by_all_kernel<T>,
               {covering_blocks(filter.elements, filter_threads), filter_threads, stream}, filter);
}

template <class T>
void filter_by_atomics(const Filter<T>& filter, cudaStream_t stream) {
  launch<PlainIncrement>(filter, stream);
}

template <class T>
void filter_by_warps(const Filter<T>& filter, cudaStream_t stream) {
  launch<WarpIncrement>(filter, stream);
}

template <class T>
void filter_by_coalesced_groups(const Filter<T>& filter, cudaStream_t stream) {
  launch<GroupIncrement>(filter, stream);
}

template <class T>
void filter_by_blocks(const Filter<T>& filter, cudaStream_t stream) {
  launch_tiles<1>(filter, stream);
}

template <class T>
void filter_by_tiles(const Filter<T>& filter, cudaStream_t stream) {
  launch_tiles<filter_rows>(filter, stream);
}

#define WARPFOLD_INSTANTIATE(T)                                             \
  template void filter_by_all(const Filter<T>&, cudaStream_t);              \
  template void filter_by_atomics(const Filter<T>&, cudaStream_t);          \
  template void filter_by_warps(const Filter<T>&, cudaStream_t);            \
  template void filter_by_coalesced_groups(const Filter<T>&, cudaStream_t); \
  template void filter_by_blocks(const Filter<T>&, cudaStream_t);           \
  template void filter_by_tiles(const Filter<T>&, cudaStream_t)

WARPFOLD_INSTANTIATE(std::int32_t);
WARPFOLD_INSTANTIATE(std::uint32_t);

#undef WARPFOLD_INSTANTIATE

}  // namespace warpfold::bench::ladder
