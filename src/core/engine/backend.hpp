#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/stage_registry.hpp"
#include "core/layout/staged_chunks.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/axis_parts.hpp"
#include "core/results/histogram_bins.hpp"
#include "core/scan/scan_spec.hpp"
#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// What a stage inside an engine did: for reports.
struct EngineTiming {
  std::string stage;   ///< "copy to GPU", "fold", ...
  double seconds = 0;  ///< in which it was busy
  std::uint64_t bytes = 0;
};

/// What a rank's reduction will meet. A slab never exceeds 2^30 elements or 1 GiB.
struct ReducePlan {
  ElementFormat format;  ///< as stored
  ReduceNeeds needs;
  std::uint64_t slab_elements = 0;  ///< the most elements a submit() brings
  /// The most bytes a slab has in a slot's buffer: its elements, and what a reader leaves between
  /// and around them.
  std::uint64_t staging_bytes = 0;
  bool chunked = false;  ///< slabs come as chunks
  int slots = 3;         ///< wanted: two for each thread that fills them
  Decoding decoding = {};
  StageRegistry* stages = nullptr;  ///< that shows the engine's, if any; so in all plans
};

/// Takes slabs, in any order. Threads may work on different slots at once: fill a slot's buffer,
/// submit it, and fill it again only after wait().
class SlabEngine {
 public:
  virtual ~SlabEngine() = default;

  /// As many as wanted, or fewer where the device's memory is short; at least 1.
  virtual int slots() const = 0;

  /// As planned, or less where the device's memory is short.
  virtual std::uint64_t slab_elements() const = 0;

  /// Host memory of the slot, aligned to 4096 bytes and suited to the device's transfers: as many
  /// bytes as planned, less by the same share as slab_elements() is.
  virtual std::span<std::byte> buffer(int slot) = 0;

  /// Starts reducing `elements` elements that begin `skipped_bytes` (a multiple of their size) into
  /// the slot's buffer; the first has flat index `first_index`. On the cpu the calling thread
  /// reduces.
  virtual void submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
                      std::uint64_t elements) = 0;

  /// Starts reducing the elements that the chunks in the slot's buffer bring to places below
  /// `slab.target.elements`, all of them once.
  virtual void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) = 0;

  /// Returns once the slot's buffer may be filled again; at once where nothing was submitted.
  virtual void wait(int slot) = 0;

  /// Once all is finished.
  virtual std::vector<EngineTiming> timings() const = 0;
};

/// Reduces slabs into one Accumulator.
class ReduceEngine : public SlabEngine {
 public:
  /// Everything submitted so far, normalized. Once all threads are done.
  virtual Accumulator finish() = 0;
};

struct HistogramPlan {
  ReducePlan slabs;  ///< its needs don't count
  /// ordered_key() of the least value of each bin, rising, and of the least value above the last
  /// one; in the type that elements have once decoded.
  std::vector<std::uint64_t> bin_keys;
};

/// Counts the elements of slabs by bins.
class HistogramEngine : public SlabEngine {
 public:
  /// Of everything submitted so far. Once all threads are done.
  virtual HistogramCounts finish() = 0;
};

struct ScanPlan {
  ScanSpec spec;                         ///< its input is as stored
  std::uint64_t slab_elements = 0;       ///< the most elements of one input() or output() piece
  std::uint64_t partition_elements = 0;  ///< the most elements any rank will hold in one block
  /// The most bytes of one piece in staging memory; 0 where pieces come as raw elements.
  std::uint64_t staging_bytes = 0;
  int readers = 1;  ///< threads that bring pieces
  int writers = 1;  ///< threads that take pieces
  /// Elements that are left out count as the operation's identity.
  Decoding decoding = {};
  StageRegistry* stages = nullptr;
};

/// Takes blocks: runs of consecutive elements that start at a tile boundary of the dataset and stay
/// in the backend's memory. Readers (numbered from 0) are threads of their own and may work on any
/// blocks at once, several on one. Offsets count elements from the block's start.
class BlockLoader {
 public:
  virtual ~BlockLoader() = default;

  /// How many blocks can be under way at once.
  virtual int blocks() const = 0;

  /// The most elements a block holds: a multiple of a tile.
  virtual std::uint64_t block_elements() const = 0;

  /// Host memory into which the reader puts elements [offset, offset + elements) of the block. May
  /// wait for the reader's earlier loads.
  virtual std::span<std::byte> input(int reader, int block, std::uint64_t offset,
                                     std::uint64_t elements) = 0;

  /// Takes what the reader's last input() now holds into the block.
  virtual void load(int reader, int block, std::uint64_t offset, std::uint64_t elements) = 0;

  /// Host memory, aligned to 4096 bytes, into which the reader puts chunks. May wait for the
  /// reader's earlier loads.
  virtual std::span<std::byte> staging(int reader) = 0;

  /// Takes the chunks that the reader's last staging() now holds into the block; `piece.target` is
  /// the block's flat range.
  virtual void load(int reader, int block, const StagedChunks& piece) = 0;
};

/// Scans blocks. Writers (numbered from 0) are threads of their own, too. On a block come first all
/// loads, then total(), scan(), then all outputs.
class ScanEngine : public BlockLoader {
 public:
  /// The exact total of the block's `elements` elements: for a sum its sum and counts of non-finite
  /// elements, for min and max its extrema; normalized.
  virtual Accumulator total(int block, std::uint64_t elements) = 0;

  /// Scans the block given the total of everything before it; `first_index` is the flat index of
  /// its first element. Returns the flat index of the first prefix that the output type can't hold,
  /// if any, unless overflow wraps.
  virtual std::optional<std::uint64_t> scan(int block, std::uint64_t first_index,
                                            std::uint64_t elements, const Accumulator& before) = 0;

  /// Scanned elements [offset, offset + elements) of the block, in the output type and native byte
  /// order; valid until the writer's next output().
  virtual std::span<const std::byte> output(int writer, int block, std::uint64_t offset,
                                            std::uint64_t elements) = 0;

  /// Once all threads are done.
  virtual std::vector<EngineTiming> timings() const = 0;
};

struct CompactPlan {
  ElementFormat format;  ///< as stored
  Decoding decoding = {};
  bool indices = false;                  ///< are wanted
  std::uint64_t slab_elements = 0;       ///< the most elements of one input() or output piece
  std::uint64_t partition_elements = 0;  ///< the most elements of a block
  std::uint64_t staging_bytes = 0;       ///< as a ScanPlan's
  int readers = 1;
  int writers = 1;
  StageRegistry* stages = nullptr;
};

/// Keeps those elements of blocks that a Decoding does not leave out, in their order. On a block
/// come first all loads, then keep(), then all outputs.
class CompactEngine : public BlockLoader {
 public:
  /// Of the block's `elements` elements, whose first has flat index `first_index`; returns how many
  /// are kept.
  virtual std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) = 0;

  /// Kept elements [offset, offset + count), decoded, in native byte order; valid until the
  /// writer's next call.
  virtual std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                            std::uint64_t count) = 0;

  /// Their flat indices, likewise.
  virtual std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                                 std::uint64_t count) = 0;

  /// Once all threads are done.
  virtual std::vector<EngineTiming> timings() const = 0;
};

struct AxisReducePlan {
  ElementFormat format;  ///< as stored
  Decoding decoding = {};
  ReduceNeeds needs;
  std::uint64_t outputs = 0;        ///< the most that a lane reduces at a time
  std::uint64_t slab_elements = 0;  ///< the most that a submit() brings
  std::uint64_t staging_bytes = 0;  ///< the most of a slab in a lane's buffer
  int lanes = 1;                    ///< wanted: one for each thread
  StageRegistry* stages = nullptr;
};

/// Reduces the columns of matrices, in lanes that share nothing, each the work of one thread: slabs
/// are rows of a matrix of as many columns as outputs, in any order.
class AxisReduceEngine {
 public:
  virtual ~AxisReduceEngine() = default;

  /// As many as wanted, or fewer where the device's memory is short; at least 1.
  virtual int lanes() const = 0;

  /// Forgets what the lane has reduced.
  virtual void begin(int lane, std::uint64_t outputs) = 0;

  /// Host memory, aligned to 4096 bytes, for the lane's next slab; may wait for an earlier one.
  virtual std::span<std::byte> buffer(int lane) = 0;

  /// Reduces what the chunks in the buffer bring to places below `slab.target.elements`, all of
  /// them once: place p is row p / outputs, output p % outputs. `rows(r)` is the index that an
  /// extremum in row r has.
  virtual void submit(int lane, const StagedChunks& slab, const BoxIndices& rows) = 0;

  /// Everything submitted since begin().
  virtual AxisParts finish(int lane) = 0;

  /// Once all threads are done.
  virtual std::vector<EngineTiming> timings() const = 0;
};

struct AxisScanPlan {
  ScanSpec spec;                    ///< its input is as stored
  Decoding decoding = {};           ///< as a ScanPlan's
  std::uint64_t lines = 0;          ///< the most that a lane scans at a time
  std::uint64_t slab_elements = 0;  ///< the most that a scan() brings
  std::uint64_t staging_bytes = 0;  ///< the most of a slab in a lane's buffer
  int lanes = 1;                    ///< wanted: one for each thread
  StageRegistry* stages = nullptr;
};

/// A slab seen as [outer][along][inner], row-major: the element at (o, a, i) is one of line
/// o * inner + i.
struct AxisSlab {
  std::uint64_t outer = 1;
  std::uint64_t along = 0;
  std::uint64_t inner = 1;

  std::uint64_t lines() const { return outer * inner; }
};

/// Scans lines: sums of floats are the true prefix, rounded once. Lanes share nothing, each is the
/// work of one thread. Slabs of a lane follow one another along the axis.
class AxisScanEngine {
 public:
  virtual ~AxisScanEngine() = default;

  virtual int lanes() const = 0;

  /// The lane's next slab is the first of `lines` lines.
  virtual void begin(int lane, std::uint64_t lines) = 0;

  /// As AxisReduceEngine's.
  virtual std::span<std::byte> buffer(int lane) = 0;

  /// Scans what the chunks in the buffer bring to places below `slab.target.elements`, all of them
  /// once, in the shape of `shape`. Returns the prefixes in the output type and native byte order,
  /// valid until the lane's next call.
  virtual std::span<const std::byte> scan(int lane, const StagedChunks& slab,
                                          const AxisSlab& shape) = 0;

  /// The least place in the slab last scanned whose prefix the output type can't hold, if any,
  /// unless overflow wraps.
  virtual std::optional<std::uint64_t> overflow(int lane) const = 0;

  /// Once all threads are done.
  virtual std::vector<EngineTiming> timings() const = 0;
};

/// Where a rank computes.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;    ///< "cpu" or "cuda"
  virtual std::string device() const = 0;  ///< for reports: "NVIDIA H200", "2 threads, AVX-512"

  virtual std::unique_ptr<ReduceEngine> make_reduce_engine(const ReducePlan& plan) = 0;
  virtual std::unique_ptr<ScanEngine> make_scan_engine(const ScanPlan& plan) = 0;
  virtual std::unique_ptr<HistogramEngine> make_histogram_engine(const HistogramPlan& plan) = 0;
  virtual std::unique_ptr<CompactEngine> make_compact_engine(const CompactPlan& plan) = 0;
  virtual std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const AxisReducePlan& plan) = 0;
  virtual std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const AxisScanPlan& plan) = 0;
};

}  // namespace warpfold
