#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/engine/engine.hpp"
#include "core/engine/staging_plan.hpp"
#include "core/results/accumulator.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold {

/// Sizes that a block engine prepares for.
struct BlockEnginePlan {
  /// Pieces of blocks; `compressed` counts the chunks of at most one block.
  StagingPlan pieces;
  std::uint64_t block_elements = 0;  ///< the most that any rank will have in one block
  int writers = 1;                   ///< threads that take pieces of as many elements
};

/// Takes blocks: runs of consecutive elements that start at a tile boundary of the dataset and stay
/// in the backend's memory. Threads may bring pieces of any blocks, several of one. Places count
/// elements from the block's start. Writers (numbered from 0) are threads of their own.
class BlockEngine : public Engine {
 public:
  /// Returns how many blocks can be under way at once.
  virtual int blocks() const = 0;

  /// Returns the most elements a block holds: a multiple of a tile.
  virtual std::uint64_t block_elements() const = 0;

  /// Lends a thread memory for a piece of the block: as many bytes as planned, aligned to 4096
  /// bytes; for pieces that are packed, which fill `places`, as many as these take, aligned to an
  /// element. May wait until earlier pieces of the thread have left it.
  virtual Ticket take(int thread, int block, ElementRange places) = 0;
};

/// Scans blocks. On a block come first all pieces, then total(), scan(), then all outputs. Elements
/// that are left out count as the operation's identity.
class ScanEngine : public BlockEngine {
 public:
  /// Returns the exact total of the block's `elements` elements, whose first has flat index
  /// `first_index`: for a sum its sum and counts of non-finite elements, for min and max its
  /// extrema, whose indices count from the block's start; normalized.
  virtual Accumulator total(int block, std::uint64_t first_index, std::uint64_t elements) = 0;

  /// Scans the block given the total of everything before it. Returns the flat index of the first
  /// prefix that the output type can't hold, if any, unless overflow wraps.
  virtual std::optional<std::uint64_t> scan(int block, std::uint64_t first_index,
                                            std::uint64_t elements, const Accumulator& before) = 0;

  /// Returns scanned elements [offset, offset + elements) of the block, in the output type and
  /// native byte order; valid until the writer's next output().
  virtual std::span<const std::byte> output(int writer, int block, std::uint64_t offset,
                                            std::uint64_t elements) = 0;
};

/// Selects those elements of blocks that a Decoding does not leave out, in their order. On a block
/// come first all pieces, then keep(), then all outputs.
class CompactEngine : public BlockEngine {
 public:
  /// Selects of the block's `elements` elements, whose first has flat index `first_index`; returns
  /// how many are kept.
  virtual std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) = 0;

  /// Returns kept elements [offset, offset + count), decoded, in native byte order; valid until the
  /// writer's next call.
  virtual std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                            std::uint64_t count) = 0;

  /// Returns the flat indices of kept elements [offset, offset + count); valid until the writer's
  /// next call.
  virtual std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                                 std::uint64_t count) = 0;
};

}  // namespace warpfold
