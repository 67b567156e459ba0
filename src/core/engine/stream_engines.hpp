#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/axis_parts.hpp"
#include "core/results/histogram_bins.hpp"
#include "core/scan/scan_spec.hpp"
#include "core/values/factors.hpp"
#include "warpfold/core/stage_timing.hpp"

namespace warpfold {

/// Takes slabs through slots of host memory. Threads may work on different slots at once; a slot
/// serves one thread at a time.
class SlotEngine {
 public:
  virtual ~SlotEngine() = default;

  /// Returns how many slots there are: as many as planned, or fewer where the device's memory is
  /// short; at least 1.
  virtual int slots() const = 0;

  /// Returns the slot's memory for its next slab, aligned to 4096 bytes and suited to the device's
  /// transfers. May wait until an earlier slab has left it.
  virtual std::span<std::byte> buffer(int slot) = 0;

  /// Tells whether chunks may come compressed, as planned.
  virtual bool decompresses() const { return false; }

  /// Returns the times of the engine's own stages; none where it works in the threads that call it.
  /// Once all of them are done.
  virtual std::vector<StageTiming> timings() const = 0;
};

/// Takes slabs in any order.
class StreamEngine : public SlotEngine {
 public:
  /// Returns the most elements of a slab: as planned, or less where the device's memory is short;
  /// a slot's memory is then less by the same share.
  virtual std::uint64_t slab_elements() const = 0;

  /// Tells whether submit() is likely not to wait now.
  virtual bool is_ready() { return true; }

  /// Starts reducing the elements that the chunks in the slot's memory bring to places below
  /// `slab.target.elements`, all of them once; the one at place p has index indices(p).
  virtual void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) = 0;

  /// Goes on with what was submitted, without waiting. To be called now and then where submit() is
  /// not.
  virtual void proceed() {}

  /// Starts on what waits for more slabs, as none are to be expected.
  virtual void flush() {}
};

/// Makes one Result of all slabs.
template <class Result>
class ResultEngine : public StreamEngine {
 public:
  /// Returns what comes of everything submitted so far. Once all threads are done.
  virtual Result finish() = 0;
};

/// Reduces slabs into one Accumulator, normalized.
using ReduceEngine = ResultEngine<Accumulator>;

/// Counts the elements of slabs by bins.
using HistogramEngine = ResultEngine<HistogramCounts>;

/// Reduces slabs into an output for each label. The element at place p has the number
/// numbers[p % numbers.size()], that of its label or no_label (label_numbers.hpp).
class LabelEngine : public ResultEngine<AxisParts> {
 public:
  /// Returns how many labels there is room for: numbers are below.
  virtual std::uint64_t capacity() const = 0;

  /// Returns memory for the numbers of so many places of the slot's next slabs, at most of a slab's
  /// elements. May wait until earlier ones have left it.
  virtual std::span<std::uint32_t> numbers(int slot, std::uint64_t places) = 0;

  /// Takes the numbers in that memory, below `labels`: those of the slabs from now on.
  virtual void label(int slot, std::uint64_t labels) = 0;
};

/// Results, sizes and factors of a reduction along axes.
struct AxisReduceSpec {
  ReduceNeeds needs;
  std::uint64_t outputs = 0;  ///< the most that a slot reduces at a time
  int turns = 1;              ///< wanted, if the engine decompresses
  Factors factors = {};       ///< factors of elements; then without extrema
};

/// Reduces the columns of matrices, in slots that share nothing: slabs are rows of a matrix of as
/// many columns as outputs. Place p is row p / outputs, output p % outputs; a slab's indices are
/// those that an extremum in its rows has.
///
/// If finish() would wait for decompression, threads have several slots, which they take in turns:
/// slot + slots(), slot + 2 * slots(), ... share no more than the memory of buffer().
class AxisReduceEngine : public StreamEngine {
 public:
  /// Returns how many slots a thread has.
  virtual int turns() const { return 1; }

  /// Forgets what the slot has reduced.
  virtual void begin(int slot, std::uint64_t outputs) = 0;

  /// Returns what comes of everything submitted since begin().
  virtual AxisParts finish(int slot) = 0;
};

/// Operation and sizes of a scan along an axis.
struct AxisScanSpec {
  ScanSpec scan;            ///< its input is as stored
  std::uint64_t lines = 0;  ///< the most that a slot scans at a time
  int ahead = 1;            ///< slabs wanted under way in a slot, if the engine decompresses
};

/// A slab seen as [outer][along][inner], row-major: the element at (o, a, i) is one of line
/// o * inner + i.
struct AxisSlab {
  std::uint64_t outer = 1;
  std::uint64_t along = 0;
  std::uint64_t inner = 1;
  bool continues = false;  ///< the lines of the slab before; otherwise it begins lines

  /// For slots that share lines: the number of these lines, how many slabs of them come before, and
  /// whether none comes after.
  std::uint64_t tile = 0;
  std::uint64_t turn = 0;
  bool ends = false;

  std::uint64_t lines() const { return outer * inner; }
  std::uint64_t elements() const { return lines() * along; }
};

/// Scans lines: sums of floats are the true prefix, rounded once. Elements that are left out count
/// as the operation's identity.
class AxisScanEngine : public SlotEngine {
 public:
  /// Tells whether slabs of the same lines may come through any slots, in any order; scan() then
  /// waits for those before. Otherwise slots share nothing.
  virtual bool shares_lines() const { return false; }

  /// Tells that a slab of such lines is not going to come: those behind it are lost.
  virtual void leave_out(const AxisSlab&) {}

  /// Has slabs that wait for others be lost.
  virtual void stop() {}

  /// Returns how many slabs of a slot can be under way: submitted and not scanned.
  virtual int ahead() const { return 1; }

  /// Takes what the chunks in the slot's memory bring to places below `slab.target.elements`, all
  /// of them once, in the shape of `shape`.
  virtual void submit(int slot, const StagedChunks& slab, const AxisSlab& shape) = 0;

  /// Scans the slab that was submitted first of those under way. Returns the prefixes in the output
  /// type and native byte order, valid until the slot's next call; nothing where the slab was lost:
  /// to what another thread's call threw, to leave_out() or stop().
  virtual std::optional<std::span<const std::byte>> scan(int slot) = 0;

  /// Returns the least place in the slab last scanned whose prefix the output type can't hold, if
  /// any, unless overflow wraps.
  virtual std::optional<std::uint64_t> overflow(int slot) const = 0;
};

}  // namespace warpfold
