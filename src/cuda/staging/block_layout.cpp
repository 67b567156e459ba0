#include "cuda/staging/block_layout.hpp"

#include <algorithm>
#include <optional>

#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// One is loaded, one scanned and one written, while another changes hands.
constexpr int max_blocks = 4;

/// Returns the most tiles, up to `wanted`, of a block of at most `bytes`.
std::uint64_t tiles_that_fit(const std::function<std::uint64_t(std::uint64_t)>& block_bytes,
                             std::uint64_t wanted, std::uint64_t bytes) {
  std::uint64_t fitting = 0;
  std::uint64_t too_many = wanted + 1;
  while (too_many - fitting > 1) {
    const std::uint64_t middle = fitting + (too_many - fitting) / 2;
    (block_bytes(middle) <= bytes ? fitting : too_many) = middle;
  }
  return fitting;
}

LoaderSize loader_size(const BlockEnginePlan& plan) {
  return {.staging_bytes = plan.pieces.slot_bytes()};
}

std::uint64_t loader_bytes(const BlockEnginePlan& plan) {
  return ChunkLoader::device_bytes(loader_size(plan));
}

/// Returns `tiles` for each of as many blocks as fit, two at least, of which each is decompressed
/// at once.
std::optional<BlockLayout> decompressing_layout(
    const BlockEnginePlan& plan, std::uint64_t tiles, std::uint64_t limit,
    const std::function<std::uint64_t(std::uint64_t)>& block_bytes) {
  const CompressedChunks& compressed = plan.pieces.compressed;
  if (compressed.chunks == 0) return std::nullopt;
  const LoaderSize loader{.staging_bytes = compressed.staging_bytes,
                          .slabs = ceil_div(compressed.chunks, compressed.slab_chunks),
                          .slab_chunks = compressed.slab_chunks,
                          .compressed = compressed.chunks,
                          .form = compressed.form};
  const std::uint64_t bytes = block_bytes(tiles) + ChunkLoader::device_bytes(loader);
  const auto blocks = static_cast<int>(std::min<std::uint64_t>(max_blocks, limit / bytes));
  if (blocks < 2) return std::nullopt;
  return BlockLayout{blocks, tiles, blocks, true, loader};
}

/// Returns how many chunk loaders, one for each thread at best, may share half the memory: at least
/// one where pieces come as chunks.
int loaders_that_fit(const BlockEnginePlan& plan, std::uint64_t limit) {
  if (plan.pieces.staging != Staging::chunks) return 0;
  const std::uint64_t fitting = limit / 2 / loader_bytes(plan);
  return static_cast<int>(
      std::clamp<std::uint64_t>(fitting, 1, static_cast<unsigned>(plan.pieces.slots())));
}

}  // namespace

std::uint64_t BlockLayout::block_elements() const { return tiles * scan_order::tile_elements; }

BlockLayout layout_of(const BlockEnginePlan& plan, const std::string& purpose,
                      std::uint64_t max_tiles, std::uint64_t limit,
                      const std::function<std::uint64_t(std::uint64_t)>& block_bytes) {
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      ceil_div(plan.block_elements, scan_order::tile_elements), 1, max_tiles);
  if (const auto decompressing = decompressing_layout(plan, wanted, limit, block_bytes))
    return *decompressing;
  const int loaders = loaders_that_fit(plan, limit);
  const std::uint64_t loading =
      loaders == 0 ? 0 : static_cast<unsigned>(loaders) * loader_bytes(plan);
  const std::uint64_t for_blocks = limit - std::min(limit, loading);
  for (int blocks = max_blocks; blocks > 0; --blocks) {
    const std::uint64_t share = for_blocks / static_cast<unsigned>(blocks);
    const std::uint64_t tiles = tiles_that_fit(block_bytes, wanted, share);
    if (tiles > 0) return {blocks, tiles, loaders, false, loader_size(plan)};
  }
  const std::string minimum = std::to_string(loading + block_bytes(1));
  throw Error("the GPU memory limit is too small to " + purpose + " in",
              std::to_string(limit) + " bytes, and one tile takes " + minimum,
              "Raise `device_memory_bytes` to " + minimum + " or more.");
}

}  // namespace warpfold::cuda
