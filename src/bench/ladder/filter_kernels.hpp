#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The kernels of atomics_variants(), for T = std::int32_t and std::uint32_t.
namespace warpfold::cuda::ladder {

/// `count` is zero at the start; `kept` has room for all elements.
template <class T>
struct Filter {
  const T* input;
  std::uint64_t elements;
  T threshold;
  T* kept;
  unsigned long long* count;
};

template <class T>
void filter_by_all(const Filter<T>& filter, cudaStream_t stream);
template <class T>
void filter_by_atomics(const Filter<T>& filter, cudaStream_t stream);
template <class T>
void filter_by_warps(const Filter<T>& filter, cudaStream_t stream);
template <class T>
void filter_by_coalesced_groups(const Filter<T>& filter, cudaStream_t stream);
template <class T>
void filter_by_blocks(const Filter<T>& filter, cudaStream_t stream);
template <class T>
void filter_by_tiles(const Filter<T>& filter, cudaStream_t stream);

}  // namespace warpfold::cuda::ladder
