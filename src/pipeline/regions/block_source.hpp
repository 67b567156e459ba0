#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/engine/stage_registry.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// An engine's block and the elements of the dataset that it holds.
struct BlockTask {
  int block = 0;
  ElementRange range;
};

/// How blocks come from a dataset to a BlockLoader: in pieces that threads bring at once.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  /// The most bytes of one piece in the engine's staging memory; 0 where pieces are raw elements.
  virtual std::uint64_t staging_bytes() const = 0;

  /// Threads that may load at once with a gain.
  virtual int max_loading(int threads) const = 0;

  virtual std::uint64_t pieces(ElementRange range) const = 0;

  /// Thread `reader` brings one piece. Throws Error.
  virtual void load(int reader, const BlockTask& task, std::uint64_t piece,
                    BlockLoader& engine) = 0;

  /// What `readers` threads did; once they are done.
  virtual std::vector<StageTiming> timings() const = 0;
};

/// In pieces of `piece_elements` elements or, where the dataset's chunks are read without the HDF5
/// library, as many whole chunks as have about as many elements. Its stages are seen on `board`.
/// Throws Error.
std::unique_ptr<BlockSource> make_block_source(io::Dataset& dataset, std::uint64_t piece_elements,
                                               int readers, StageRegistry& registry);

}  // namespace warpfold::pipeline
