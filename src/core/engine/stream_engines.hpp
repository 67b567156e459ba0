#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/engine/engine.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/axis_parts.hpp"
#include "core/results/histogram_bins.hpp"
#include "core/results/quantile.hpp"
#include "core/scan/scan_spec.hpp"
#include "core/values/factors.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold {

/// Takes slabs in any order.
class StreamEngine : public Engine {
 public:
  /// Returns how many threads can bring slabs at once: as many as planned, or fewer where the
  /// device's memory is short; at least 1.
  virtual int threads() const = 0;

  /// Returns the most elements of a slab: as planned, or less where the device's memory is short;
  /// tickets' memory is then less by the same share.
  virtual std::uint64_t slab_elements() const = 0;

  /// Lends a thread memory for a slab, whose places are all filled once; it is aligned to 4096
  /// bytes. May wait until an earlier slab of the thread has left it.
  virtual Ticket take(int thread) = 0;

  /// Returns whether submit() is likely not to wait now.
  virtual bool is_ready() { return true; }

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

/// Destination of a dataset's values: memory of the backend for those at some flat indices, in row-
/// major order, as elements of Decoding::value_type() in native byte order.
struct ReadTarget {
  std::byte* values = nullptr;
  ElementRange indices;
  std::uint64_t left_out = 0;  ///< bits of the value that elements get that don't count
};

/// Nothing comes of reading but what is at its target then.
struct AllRead {
  void merge(const AllRead&) {}
  void repeat(std::uint64_t) {}
};

/// Brings the values of slabs to their places in a ReadTarget, those of other indices nowhere.
using ReadEngine = ResultEngine<AllRead>;

/// Reduces slabs into an output for each label. The element at place p has the number
/// numbers[p % numbers.size()], that of its label or no_label (label_numbers.hpp).
class LabelEngine : public ResultEngine<AxisParts> {
 public:
  /// Returns how many labels there is room for: numbers are below.
  virtual std::uint64_t capacity() const = 0;

  /// Returns memory for the numbers of so many places, at most of a slab's elements. May wait until
  /// the thread's earlier ones have left it.
  virtual std::span<std::uint32_t> numbers(int thread, std::uint64_t places) = 0;

  /// Takes the numbers in that memory, below `labels`: those of the slabs that the thread takes
  /// from now on.
  virtual void label(int thread, std::uint64_t labels) = 0;
};

/// Results, sizes and factors of a reduction along axes.
struct AxisReduceSpec {
  ReduceNeeds needs;
  std::uint64_t outputs = 0;  ///< the most of a reduction
  int under_way = 1;          ///< reductions wanted per thread, if the engine decompresses
  Factors factors = {};       ///< factors of elements; then without extrema
};

/// Reduces the columns of matrices: slabs are rows of a matrix of as many columns as outputs. Place
/// p is row p / outputs, output p % outputs. Threads share nothing. One has several reductions
/// under way where finish() would otherwise wait for decompression.
class AxisReduceEngine : public StreamEngine {
 public:
  /// Returns how many reductions a thread can have under way: begun and not finished.
  virtual int under_way() const { return 1; }

  /// Begins a reduction, of the slabs that the thread takes from now on.
  virtual void begin(int thread, std::uint64_t outputs) = 0;

  /// Finishes the thread's reduction that was begun first of those under way.
  virtual AxisParts finish(int thread) = 0;
};

/// Engines find at most so many quantiles along axes: each takes them several rounds through the
/// elements. Cores sort elements where there are many.
inline constexpr std::size_t most_engine_quantiles = 32;

/// Quantiles along axes, and the sizes of tables.
struct QuantileEngineSpec {
  LineQuantileSpec quantiles;
  std::uint64_t elements = 0;  ///< the most of a table
  std::uint64_t outputs = 0;   ///< the most of a table
  int tables = 1;              ///< under way at once
};

/// Gathers all elements of some outputs in a table, and finds the quantiles of each. Tables have
/// numbers that rise; `tables` of them are under way at once. Slabs are rows of a matrix, as those
/// of an AxisReduceEngine are; threads bring a table's rows in any order. On a table come first all
/// its slabs, then search(), then find() of all its outputs, before the table of the number that is
/// greater by `tables`.
class QuantileEngine : public StreamEngine {
 public:
  /// Says which table, of so many outputs, the slabs go to that the thread takes from now on.
  virtual void fill(int thread, std::uint64_t table, std::uint64_t outputs) = 0;

  /// Starts looking for the quantiles of a table whose slabs are all submitted.
  virtual void search(std::uint64_t table) = 0;

  /// Writes the quantiles of some outputs, each one's of all outputs behind those of the one
  /// before, as elements of the type asked for in native byte order. Threads may call it at once.
  virtual void find(int thread, std::uint64_t table, ElementRange outputs, std::byte* out) = 0;
};

/// Operation and sizes of a scan along an axis.
struct AxisScanSpec {
  ScanSpec scan;            ///< its input is as stored
  std::uint64_t lines = 0;  ///< the most of a slab
  int under_way = 1;        ///< slabs wanted per thread, if the engine decompresses
};

/// A slab seen as [outer][along][inner], row-major: the element at (o, a, i) is one of line
/// o * inner + i.
struct AxisSlab {
  std::uint64_t outer = 1;
  std::uint64_t along = 0;
  std::uint64_t inner = 1;
  std::uint64_t turn = 0;  ///< how many slabs of the same lines come before

  /// Number of these lines, and whether no slab of them comes after, for threads that share lines.
  std::uint64_t tile = 0;
  bool ends = false;

  std::uint64_t lines() const { return outer * inner; }
  std::uint64_t elements() const { return lines() * along; }
  bool continues() const { return turn > 0; }
};

/// Scans lines: sums of floats are the true prefix, rounded once. Elements that are left out count
/// as the operation's identity.
class AxisScanEngine : public Engine {
 public:
  /// Returns how many threads can bring slabs at once, as a StreamEngine does.
  virtual int threads() const = 0;

  /// Returns whether slabs of the same lines may come from any threads, in any order; scan() then
  /// waits for those before. Otherwise threads share nothing.
  virtual bool shares_lines() const { return false; }

  /// Tells that a slab of such lines is not going to come: those behind it are lost.
  virtual void leave_out(const AxisSlab&) {}

  /// Has slabs that wait for others be lost.
  virtual void stop() {}

  /// Returns how many slabs of a thread can be under way: submitted and not scanned.
  virtual int under_way() const { return 1; }

  /// Lends a thread memory for a slab of that shape, as a StreamEngine does.
  virtual Ticket take(int thread, const AxisSlab& shape) = 0;

  /// Scans the thread's slab that was submitted first of those under way. Returns the prefixes in
  /// the output type and native byte order, valid until the thread's next call; nothing where the
  /// slab was lost: to what another thread's call threw, to leave_out() or stop().
  virtual std::optional<std::span<const std::byte>> scan(int thread) = 0;

  /// Returns the least place in the thread's slab last scanned whose prefix the output type can't
  /// hold, if any, unless overflow wraps.
  virtual std::optional<std::uint64_t> overflow(int thread) const = 0;
};

}  // namespace warpfold
