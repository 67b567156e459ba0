#pragma once

#include <cstddef>

#include "core/layout/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/range_folder.hpp"

namespace warpfold::cpu {

/// One thread's fold of chunks in staging memory: block by block, each taken out of its chunk into
/// a cache of the core and folded there.
class ChunkFolder {
 public:
  ChunkFolder(const Kernels& kernels, std::size_t element_bytes);

  /// Folds the dataset's elements in all `chunks`, whatever their target.
  void fold(const StagedChunks& chunks, const std::byte* staging, RangeSink& into);

 private:
  const Kernels& kernels_;
  std::size_t element_bytes_;
  PageBuffer block_;
};

}  // namespace warpfold::cpu
