#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "core/layout/partition.hpp"

/// The kernels behind the variants. Each launcher starts its kernel behind what `stream` holds and
/// throws Error where the launch fails.
namespace warpfold::bench::ladder {

/// Blocks of `block_elements` that cover `elements`; one where there are none. A grid has room for
/// 2^31 - 1 of them, more than a device's memory has.
inline unsigned covering_blocks(std::uint64_t elements, std::uint64_t block_elements) {
  return static_cast<unsigned>(std::max<std::uint64_t>(ceil_div(elements, block_elements), 1));
}

// Sums, for T = std::uint32_t, float and double. Those of the first kind replace an array by sums
// of pieces of it, in order; the last piece may be short, and an empty array is one piece.

inline constexpr std::uint64_t tree_threads = 256;
inline constexpr std::uint64_t level_threads = 1024;
inline constexpr std::uint64_t warp_elements = 32;

/// Sums pieces of tree_threads elements; so do the next two.
template <class T>
void sum_interleaved_divergent(const T* input, std::uint64_t elements, T* sums,
                               cudaStream_t stream);
template <class T>
void sum_interleaved_strided(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);
template <class T>
void sum_sequential(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);

/// Sums pieces of level_threads elements.
template <class T>
void sum_tree_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);

/// Sums pieces of warp_elements elements.
template <class T>
void sum_shuffle_level(const T* input, std::uint64_t elements, T* sums, cudaStream_t stream);

// Kernels that add the sum of all elements to `sum`.

template <class T>
void add_last_warp_syncwarp(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);
template <class T>
void add_last_warp_shuffle(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);
template <class T>
void add_last_warp_tile(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);

void add_by_reduce_add_sync(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* sum,
                            cudaStream_t stream);

/// Returns whether the current device has __reduce_add_sync and this program was compiled for it.
bool has_reduce_add_sync();

template <class T>
void add_unrolled(const T* input, std::uint64_t elements, T* sum, cudaStream_t stream);

// Inclusive scans. i32 sums modulo 2^32 are u32 sums of the same bits.

/// Elements a part, of which one block of threads takes care; the last part may be short.
inline constexpr std::uint64_t part_elements = 1024;

// Each scans every part by itself and writes the parts' sums. Nothing is done to no elements.

struct PartScan {
  const std::uint32_t* input;
  std::uint64_t elements;
  std::uint32_t* output;  ///< may be `input`
  std::uint32_t* part_sums;
};

void scan_parts_serial(const PartScan& scan, cudaStream_t stream);
void scan_parts_serial_shared(const PartScan& scan, cudaStream_t stream);
void scan_parts_serial_warps(const PartScan& scan, cudaStream_t stream);
void scan_parts_kogge_stone(const PartScan& scan, cudaStream_t stream);
void scan_parts_kogge_stone_padded(const PartScan& scan, cudaStream_t stream);
void scan_parts_shuffle(const PartScan& scan, cudaStream_t stream);

/// Scans an array in place, one element after the other.
void scan_by_one_thread(std::uint32_t* sums, std::uint64_t count, cudaStream_t stream);

/// Adds to each part of `output` but the first the scanned sum of the parts before it.
void add_part_bases(std::uint32_t* output, std::uint64_t elements,
                    const std::uint32_t* scanned_part_sums, cudaStream_t stream);

// The fast ones keep tiles in registers, several elements a thread.

inline constexpr int tile_threads = 384;
inline constexpr int tile_elements = 9216;

void sum_tiles(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* tile_sums,
               cudaStream_t stream);

/// Scans every tile from the scanned sum of the tiles before it.
void scan_tiles(const std::uint32_t* input, std::uint64_t elements,
                const std::uint32_t* scanned_tile_sums, std::uint32_t* output, cudaStream_t stream);

/// Scratch memory of the lookback, all zero at the start.
struct LookbackScratch {
  unsigned* tickets;      ///< one
  std::uint64_t* states;  ///< one a tile
};

void scan_lookback(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                   const LookbackScratch& scratch, cudaStream_t stream);

// Filters, for T = std::int32_t and std::uint32_t.

/// Input and output of a filter: `count` is zero at the start; `selected` has room for all
/// elements.
template <class T>
struct Filter {
  const T* input;
  std::uint64_t elements;
  T threshold;
  T* selected;
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

}  // namespace warpfold::bench::ladder
