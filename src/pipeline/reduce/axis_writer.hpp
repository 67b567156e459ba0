#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "core/layout/hyperslab.hpp"
#include "core/results/axis_totals.hpp"
#include "io/output/output.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/reduce/place_coordinates.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::pipeline {

/// Keeps, of failures that threads and ranks meet at places of datasets, the one at the first
/// place, in whatever order they come.
class FirstFailure {
 public:
  /// Dataset, flat index.
  using Place = std::pair<std::uint64_t, std::uint64_t>;

  /// Threads may call it at once.
  void note(Place place, std::exception_ptr failure);

  /// Returns whether a failure at `place` would come after one that is known.
  bool precedes(Place place) const;

  /// Throws on every rank where any has met a failure. Collective.
  void throw_on_all_ranks(const mpi::Communicator& communicator) const;

 private:
  static constexpr Place nowhere{~std::uint64_t{0}, ~std::uint64_t{0}};

  mutable std::mutex mutex_;
  Place place_ = nowhere;
  std::exception_ptr failure_;
};

/// Destination of a statistic of all outputs on this rank.
struct AxisTarget {
  Statistic statistic;
  ElementType type;
  io::ContiguousWriter* writer;
  Value empty = {};    ///< a sum of no elements; 0 where nothing
  Value missing = {};  ///< a result of fewer than min_count elements; as it is where nothing
  std::uint64_t min_count = 0;
  const PlaceCoordinate* place = nullptr;  ///< makes coordinates of indices
};

/// A dimension of a dataset in whose flat indices totals have the places of extrema.
struct PlaceDimension {
  std::uint64_t stride;
  std::uint64_t extent;
};

/// Times what a thread does to write outputs.
struct OutputTimers {
  /// `registry` may be null.
  explicit OutputTimers(StageRegistry* registry)
      : finishing(registry, stage::finish), writing(registry, stage::write) {}

  std::vector<StageTiming> timings() const { return {finishing.timing(), writing.timing()}; }

  StageTimer finishing;
  StageTimer writing;
};

/// Turns totals into statistics and writes them at their places. Threads may do so at once.
class AxisWriter {
 public:
  /// Indices are to count along the dimensions of `places`; none: as totals have them.
  AxisWriter(std::vector<AxisTarget> targets, std::vector<std::uint64_t> output_shape,
             const SummaryOptions& options, std::vector<PlaceDimension> places = {});

  const std::vector<std::uint64_t>& output_shape() const { return output_shape_; }

  /// Writes a box of the output array, or a flat range. Notes statistics that their types can't
  /// hold; throws Error where writing fails.
  void write(const Hyperslab& outputs, const AxisTotals& totals, OutputTimers& timers);
  void write(ElementRange outputs, const AxisTotals& totals, OutputTimers& timers);

  /// Returns whether a failure is known that comes before any that the box could meet.
  bool failed_before(const Hyperslab& outputs) const;

  const FirstFailure& failure() const { return failure_; }

  /// Number of sums written so far that no element took part in.
  std::uint64_t sums_of_nothing() const { return sums_of_nothing_; }

  /// Number of extrema written so far that elements have, and that mark missing ones, too.
  std::uint64_t marked_results() const { return marked_results_; }

 private:
  /// Totals [place, place + outputs.count), as outputs of the flat range.
  void write(std::size_t target, std::uint64_t place, ElementRange outputs,
             const AxisTotals& totals, OutputTimers& timers);

  /// Returns such elements of a target; nothing where they are no numbers of its type, which is
  /// noted.
  std::vector<std::byte> finished(std::size_t target, std::uint64_t place, ElementRange outputs,
                                  const AxisTotals& totals);

  /// Counts the elements of outputs, from that place of totals on, that have the value of missing
  /// ones although some element counts.
  std::uint64_t count_marked(ElementType type, std::uint64_t place, const AxisTotals& totals,
                             const std::vector<std::byte>& elements) const;

  std::uint64_t counting(const AxisCounts& counts) const;

  /// Turns indices, -1 for none, into those along the dimensions of places.
  void count_along_places(std::vector<std::byte>& indices) const;

  /// Replaces the elements of outputs, from that place of totals on, of fewer than `fewest`
  /// elements that count; by 0 for nothing. Returns their number.
  std::uint64_t replace_small(std::uint64_t fewest, const Value& replacement, ElementType type,
                              std::uint64_t place, const AxisTotals& totals,
                              std::vector<std::byte>& elements) const;

  std::vector<AxisTarget> targets_;
  std::vector<std::uint64_t> output_shape_;
  SummaryOptions options_;
  std::vector<PlaceDimension> places_;
  FirstFailure failure_;
  std::atomic<std::uint64_t> sums_of_nothing_ = 0;
  std::atomic<std::uint64_t> marked_results_ = 0;
};

}  // namespace warpfold::pipeline
