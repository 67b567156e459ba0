#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "core/layout/partition.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/memory.hpp"

namespace warpfold::bench::ladder {
namespace {

using ScanParts = void (*)(const PartScan& scan, cudaStream_t stream);
using Scan = void (*)(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      std::byte* scratch, cudaStream_t stream);

std::uint64_t parts_of(std::uint64_t elements) { return ceil_div(elements, part_elements); }

/// Part sums in one level.
std::uint64_t one_level_bytes(std::uint64_t elements) {
  return parts_of(elements) * sizeof(std::uint32_t);
}

/// Part sums, part sums of these, and so on until one is left.
std::uint64_t all_levels_bytes(std::uint64_t elements) {
  cuda::Scratch scratch;
  do {
    elements = parts_of(elements);
    scratch.take<std::uint32_t>(elements);
  } while (elements > 1);
  return scratch.bytes();
}

/// Tile sums, and what the scan of them needs.
std::uint64_t tile_sums_bytes(std::uint64_t elements) {
  cuda::Scratch scratch;
  const std::uint64_t tiles = ceil_div(elements, tile_elements);
  scratch.take<std::uint32_t>(tiles);
  return scratch.bytes() + all_levels_bytes(tiles);
}

/// Scan of the parts, of their sums by one thread, addition: three kernels.
template <ScanParts Parts>
void scan_three_kernels(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                        std::byte* scratch, cudaStream_t stream) {
  auto* part_sums = reinterpret_cast<std::uint32_t*>(scratch);
  Parts({input, elements, output, part_sums}, stream);
  scan_by_one_thread(part_sums, parts_of(elements), stream);
  add_part_bases(output, elements, part_sums, stream);
}

/// The same, the sums being scanned as the elements are.
template <ScanParts Parts>
void scan_recursively(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      cuda::Scratch& scratch, cudaStream_t stream) {
  const std::uint64_t parts = parts_of(elements);
  auto* part_sums = scratch.take<std::uint32_t>(parts);
  Parts({input, elements, output, part_sums}, stream);
  if (parts == 1) return;
  scan_recursively<Parts>(part_sums, parts, part_sums, scratch, stream);
  add_part_bases(output, elements, part_sums, stream);
}

template <ScanParts Parts>
void scan_recursively(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      std::byte* memory, cudaStream_t stream) {
  cuda::Scratch scratch(memory);
  scan_recursively<Parts>(input, elements, output, scratch, stream);
}

void reduce_then_scan(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      std::byte* memory, cudaStream_t stream) {
  cuda::Scratch scratch(memory);
  const std::uint64_t tiles = ceil_div(elements, tile_elements);
  auto* tile_sums = scratch.take<std::uint32_t>(tiles);
  sum_tiles(input, elements, tile_sums, stream);
  scan_recursively<scan_parts_shuffle>(tile_sums, tiles, tile_sums, scratch, stream);
  scan_tiles(input, elements, tile_sums, output, stream);
}

LookbackScratch lookback_scratch(cuda::Scratch& scratch, std::uint64_t elements) {
  return {scratch.take<unsigned>(1),
          scratch.take<std::uint64_t>(ceil_div(elements, tile_elements))};
}

std::uint64_t lookback_bytes(std::uint64_t elements) {
  cuda::Scratch scratch;
  lookback_scratch(scratch, elements);
  return scratch.bytes();
}

void lookback(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
              std::byte* memory, cudaStream_t stream) {
  cuda::fill_bytes(memory, 0, lookback_bytes(elements), stream);
  cuda::Scratch scratch(memory);
  scan_lookback(input, elements, output, lookback_scratch(scratch, elements), stream);
}

template <Scan Run>
void start(const void* input, std::uint64_t elements, void* output, std::byte* scratch,
           cudaStream_t stream) {
  if (elements == 0) return;
  Run(static_cast<const std::uint32_t*>(input), elements, static_cast<std::uint32_t*>(output),
      scratch, stream);
}

}  // namespace

std::vector<Variant> scan_variants() {
  return {
      {{"serial", "parts by one thread each, part sums by one thread", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_serial>>},
      {{"serial-shared", "parts staged through shared memory", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_serial_shared>>},
      {{"serial-warps", "parts split to warps, one lane of each adds", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_serial_warps>>},
      {{"kogge-stone", "warps by Kogge and Stone in shared memory", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_kogge_stone>>},
      {{"kogge-stone-padded", "zero padding instead of branches", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_kogge_stone_padded>>},
      {{"recursive", "part sums scanned as the elements are", {}},
       all_levels_bytes,
       start<scan_recursively<scan_parts_kogge_stone_padded>>},
      {{"shuffle", "warps by __shfl_up_sync", {}},
       all_levels_bytes,
       start<scan_recursively<scan_parts_shuffle>>},
      {{"reduce-then-scan", "tiles in registers, summed first, scanned once with their offset", {}},
       tile_sums_bytes,
       start<reduce_then_scan>},
      {{"look-back", "one pass, decoupled look-back", {}}, lookback_bytes, start<lookback>},
  };
}

}  // namespace warpfold::bench::ladder
