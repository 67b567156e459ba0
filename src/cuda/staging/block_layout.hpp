#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/engine/stage_registry.hpp"

namespace warpfold::cuda {

/// What a ScanPlan and a CompactPlan have in common.
struct BlockPlan {
  std::string purpose;        ///< "scan", for reports and errors
  std::size_t element_bytes;  ///< of a stored element
  std::uint64_t slab_elements;
  std::uint64_t partition_elements;
  std::uint64_t staging_bytes;
  int readers;
  int writers;
  StageRegistry* stages = nullptr;  ///< as in those
};

struct BlockLayout {
  int blocks;
  std::uint64_t tiles;  ///< of each block
  int loaders;          ///< of chunks

  std::uint64_t block_elements() const;
};

/// As many blocks as can be under way together, each as large as then fits into `limit` bytes of
/// device memory, up to `max_tiles`, given what blocks take. Throws Error where none fits.
BlockLayout layout_of(const BlockPlan& plan, std::uint64_t max_tiles, std::uint64_t limit,
                      const std::function<std::uint64_t(std::uint64_t tiles)>& block_bytes);

}  // namespace warpfold::cuda
