#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/chunk_grid.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// A dataset cut into slabs, numbered from 0: boxes of whole chunks where chunks are read one by
/// one, otherwise ranges of its flat index space.
class SlabCut {
 public:
  /// Into slabs of at most `slab_elements` (1 or more), though at least of one chunk.
  SlabCut(const io::DatasetInfo& info, std::uint64_t slab_elements);

  std::uint64_t slabs() const;
  std::uint64_t max_elements() const;  ///< of a slab

  /// Those slabs that rank `rank` of `ranks` reduces: consecutive numbers.
  ElementRange share(int ranks, int rank) const;

  /// Whether slabs are boxes of chunks.
  bool in_chunks() const { return boxes_.has_value(); }

  /// A slab that is a range.
  ElementRange range(std::uint64_t slab) const;

  /// The chunks of consecutive slabs that are boxes.
  ChunkRun chunks(ElementRange slabs) const;
  std::uint64_t max_chunks() const { return max_chunks_; }  ///< of a slab

 private:
  std::uint64_t elements_ = 0;
  std::uint64_t slab_elements_ = 1;
  std::uint64_t max_chunks_ = 0;
  std::optional<BoxCut> boxes_;
};

}  // namespace warpfold::pipeline
