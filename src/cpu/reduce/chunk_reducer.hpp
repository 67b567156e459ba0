#pragma once

#include <cstddef>

#include "core/layout/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/range_reducer.hpp"

namespace warpfold::cpu {

/// One thread's reduction of chunks in staging memory: block by block, each taken out of its chunk
/// into a cache of the core and reduced there.
class ChunkReducer {
 public:
  ChunkReducer(const Kernels& kernels, std::size_t element_bytes);

  /// Reduces the dataset's elements in all `chunks`; those of a run have its indices, others those
  /// in their grid.
  void reduce(const StagedChunks& chunks, const std::byte* staging, RangeSink& into);

 private:
  const Kernels& kernels_;
  std::size_t element_bytes_;
  PageBuffer block_;
};

}  // namespace warpfold::cpu
