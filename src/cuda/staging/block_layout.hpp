#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/engine/block_engines.hpp"
#include "cuda/staging/chunk_loader.hpp"

namespace warpfold::cuda {

struct BlockLayout {
  int blocks;
  std::uint64_t tiles;  ///< tiles per block
  int loaders;          ///< loaders of chunks; if they decompress, one per block
  bool decompresses = false;
  LoaderSize loader = {};

  std::uint64_t block_elements() const;
};

/// Returns as many blocks as can be under way together, each as large as then fits into `limit`
/// bytes of device memory, up to `max_tiles`, given what blocks take. They decompress, if planned,
/// where there is enough for two of the size planned. Throws Error where none fits,
/// which names the purpose: "scan".
BlockLayout layout_of(const BlockEnginePlan& plan, const std::string& purpose,
                      std::uint64_t max_tiles, std::uint64_t limit,
                      const std::function<std::uint64_t(std::uint64_t tiles)>& block_bytes);

}  // namespace warpfold::cuda
