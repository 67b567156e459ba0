#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The kernels of reduce_variants(), for T = std::uint32_t, float and double.
namespace warpfold::cuda::ladder {

// Those of the first kind replace an array by sums of pieces of it, in order; the last piece may be
// short, and an empty array is one piece.

inline constexpr std::uint64_t tree_threads = 256;
inline constexpr std::uint64_t level_threads = 1024;
inline constexpr std::uint64_t warp_elements = 32;

/// Pieces of tree_threads elements.
template <class T>
void sum_interleaved_divergent(const T* input, std::uint64_t elements, T* sums,
                               cudaStream_t stream);
template <class T>
void sum_interleaved_strided(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);
template <class T>
void sum_sequential(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);

/// Pieces of level_threads elements.
template <class T>
void sum_tree_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);

/// Pieces of warp_elements elements.
template <class T>
void sum_shuffle_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);

// Those of the second kind add the sum of all elements to `sum`.

template <class T>
void add_last_warp_syncwarp(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);
template <class T>
void add_last_warp_shuffle(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);
template <class T>
void add_last_warp_tile(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);

void add_by_reduce_add_sync(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* sum,
                            cudaStream_t stream);

/// Whether the current device has __reduce_add_sync and this program was compiled for it.
bool has_reduce_add_sync();

template <class T>
void add_unrolled(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);

}  // namespace warpfold::cuda::ladder
