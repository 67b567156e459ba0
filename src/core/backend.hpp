#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

namespace warpfold {

/// What a rank's fold will meet. A slab never exceeds 2^30 elements or 1 GiB.
struct FoldPlan {
  ElementFormat format;
  FoldNeeds needs;
  std::uint64_t slab_elements = 0;  ///< the most elements a submit() brings
};

/// Folds slabs, in any order, into one Accumulator. A slab is filled by a reader thread and
/// submitted by another; a slot is filled again only after wait().
class FoldEngine {
 public:
  virtual ~FoldEngine() = default;

  virtual int slots() const = 0;

  /// Host memory of the slot, slab_elements * element size bytes, suited to the device's transfers.
  virtual std::span<std::byte> buffer(int slot) = 0;

  /// Starts folding the slot's first `elements` elements, whose first has flat index `first_index`.
  virtual void submit(int slot, std::uint64_t first_index, std::uint64_t elements) = 0;

  /// Returns once the slot's buffer may be filled again; at once where nothing was submitted.
  virtual void wait(int slot) = 0;

  /// Everything submitted so far, normalized.
  virtual Accumulator finish() = 0;
};

struct ScanPlan {
  ScanSpec spec;
  std::uint64_t slab_elements = 0;       ///< the most elements of one input() or output() piece
  std::uint64_t partition_elements = 0;  ///< the most elements any rank will hold in one block
};

/// Scans blocks: runs of consecutive elements that start at a tile boundary of the dataset and stay
/// in the backend's memory between their fold and their scan. Calls on different blocks may come
/// from different threads at once; calls on one block come in the order of declaration. Element
/// offsets are relative to the block's start and multiples of a tile.
class ScanEngine {
 public:
  virtual ~ScanEngine() = default;

  /// How many blocks can be under way at once.
  virtual int blocks() const = 0;

  /// The most elements a block holds: a multiple of a tile.
  virtual std::uint64_t block_elements() const = 0;

  /// Host memory into which the reader puts elements [offset, offset + elements) of the block.
  virtual std::span<std::byte> input(int block, std::uint64_t offset, std::uint64_t elements) = 0;

  /// Takes what input()'s memory now holds into the block.
  virtual void load(int block, std::uint64_t offset, std::uint64_t elements) = 0;

  /// The exact total of the block's `elements` elements: for a sum its sum and counts of non-finite
  /// elements, for min and max its extrema; normalized.
  virtual Accumulator total(int block, std::uint64_t elements) = 0;

  /// Scans the block given the total of everything before it; `first_index` is the flat index of
  /// its first element. Returns the flat index of the first prefix that the output type can't hold,
  /// if any, unless overflow wraps.
  virtual std::optional<std::uint64_t> scan(int block, std::uint64_t first_index,
                                            std::uint64_t elements, const Accumulator& before) = 0;

  /// Scanned elements [offset, offset + elements) of the block, in the output type and native byte
  /// order; valid until the next output() of this block.
  virtual std::span<const std::byte> output(int block, std::uint64_t offset,
                                            std::uint64_t elements) = 0;
};

/// Where a rank computes.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;    ///< "cpu" or "cuda"
  virtual std::string device() const = 0;  ///< for reports: "NVIDIA H200", "2 threads, AVX-512"

  virtual std::unique_ptr<FoldEngine> make_fold_engine(const FoldPlan& plan) = 0;
  virtual std::unique_ptr<ScanEngine> make_scan_engine(const ScanPlan& plan) = 0;
};

}  // namespace warpfold
