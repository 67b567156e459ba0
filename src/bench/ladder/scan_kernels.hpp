#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The kernels of scan_variants(). i32 sums modulo 2^32 are u32 sums of the same bits.
namespace warpfold::cuda::ladder {

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

/// What the lookback needs beside the arrays, all zero at the start.
struct LookbackScratch {
  unsigned* tickets;      ///< one
  std::uint64_t* states;  ///< one a tile
};

void scan_lookback(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                   const LookbackScratch& scratch, cudaStream_t stream);

}  // namespace warpfold::cuda::ladder
