#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// An engine's block and the elements of the dataset that it holds.
struct BlockTask {
  int block = 0;
  ElementRange range;
};

/// How blocks come from a dataset to an engine: in pieces that threads bring at once, whole chunks
/// where these are read one by one. A chunk that two blocks share is read for both.
class BlockSource {
 public:
  /// In pieces of `piece_elements` elements, or of as many chunks as have about as many. Borrows
  /// the dataset; what readers do is seen in the registry. Throws Error.
  BlockSource(io::Dataset& dataset, std::uint64_t piece_elements, int readers,
              StageRegistry& registry);

  /// Returns the engine's plan for blocks of at most `block_elements` that as many threads write
  /// as read.
  BlockEnginePlan plan(const Decoding& decoding, std::uint64_t block_elements,
                       StageRegistry& registry);

  /// Has readers leave chunks compressed, for an engine that decompresses. Before any load.
  void leave_compressed();

  /// Returns how many threads may load at once with a gain.
  int max_loading() const;

  /// Returns the pieces of a block that holds `range`.
  std::uint64_t pieces(ElementRange range) const;

  /// Thread `reader` brings one piece. Throws Error.
  void load(int reader, const BlockTask& task, std::uint64_t piece, BlockEngine& engine);

  /// Returns what the readers did; once they are done.
  std::vector<StageTiming> timings() const;

 private:
  CompressedChunks compressed_of(std::uint64_t block_elements);

  RegionSource source_;
  std::uint64_t piece_elements_;
  std::uint64_t piece_chunks_ = 0;
  std::deque<RegionReader> readers_;
};

}  // namespace warpfold::pipeline
