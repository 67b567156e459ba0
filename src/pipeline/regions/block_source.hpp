#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// How blocks come from a dataset to an engine: in pieces that threads bring at once, whole chunks
/// where these are read one by one. A chunk that two blocks share is read for both.
class BlockSource {
 public:
  /// In pieces as planned, or of as many chunks as have about as many elements. Borrows the
  /// dataset; what readers do is seen in the registry. Throws Error.
  BlockSource(io::Dataset& dataset, const WorkPlan& plan, StageRegistry& registry);

  /// Returns the engine's plan for these blocks, which as many threads write as read.
  BlockEnginePlan engine_plan(const Decoding& decoding);

  /// Makes a reader for each thread, before any load: they leave chunks compressed for an engine
  /// that decompresses.
  void make_readers(io::Compressed compressed);

  /// Returns how many threads may load at once with a gain.
  int max_loading() const;

  /// Returns the pieces of a block that holds `range`.
  std::uint64_t pieces(ElementRange range) const;

  /// Thread `reader` brings one piece of an engine's block, which holds `range`. Throws Error.
  void load(int reader, int block, ElementRange range, std::uint64_t piece, BlockEngine& engine);

  /// Returns what the readers did; once they are done.
  std::vector<StageTiming> timings() const;

 private:
  RegionSource source_;
  StageRegistry& registry_;
  WorkSizes sizes_;
  std::uint64_t piece_chunks_ = 0;
  std::deque<RegionReader> readers_;
};

}  // namespace warpfold::pipeline
