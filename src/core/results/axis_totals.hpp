#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/results/axis_parts.hpp"
#include "core/results/weighted_sums.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Chooses the type of a statistic's outputs along an axis, of elements whose values are of type
/// `value`: counts u64; indices i64; extrema the values' own; sums of integers 64 bits of their
/// signedness; their l1 and linf u64; every other statistic `asked`, by default the values' own
/// floating-point type, f64 for integers.
ElementType axis_output_type(Statistic statistic, ElementType value,
                             std::optional<ElementType> asked);

/// Totals combine exactly what workers and ranks have reduced of the same outputs.
class AxisTotals {
 public:
  /// Makes totals of no elements yet; `values` is the type of the elements once decoded.
  AxisTotals(ElementType values, ReduceNeeds needs, std::uint64_t outputs);

  /// Makes those of what one worker has reduced.
  AxisTotals(ElementType values, ReduceNeeds needs, AxisParts parts);

  std::uint64_t outputs() const { return parts_.counts.size(); }

  /// Adds outputs of no elements until there are so many.
  void grow(std::uint64_t outputs);

  /// Adds a reduction of the same needs to outputs, by default the same.
  void merge(const AxisParts& parts, OutputMap to = {});

  /// Returns all as words, for messages between ranks.
  std::vector<std::uint64_t> packed() const;

  /// Adds what packed() gave of the same outputs and needs.
  void merge(std::span<const std::uint64_t> packed);

  /// Returns what packed() gave of so many outputs of the same needs.
  AxisParts unpacked(std::span<const std::uint64_t> packed, std::uint64_t outputs) const;

  ElementType values() const { return values_; }
  const ReduceNeeds& needs() const { return needs_; }
  const AxisParts& parts() const { return parts_; }

  /// Returns what the needs ask for of one output.
  Accumulator accumulator(std::uint64_t output) const;

  /// Returns the sums of one output whose elements have factors.
  WeightedSums weighted_sums(std::uint64_t output) const;

  /// Writes a statistic of some outputs as elements of type `to` (axis_output_type()) in native
  /// byte order, rounded once, as summarize() defines it. Where no element takes part, an extremum
  /// is options.empty, and an index -1. Output 0 is called `first_output` in errors.
  ///
  /// Throws Error where an integer type can't hold a result, or options.empty.
  /// Threads may call it at once.
  void store(Statistic statistic, const SummaryOptions& options, ElementRange outputs,
             std::uint64_t first_output, ElementType to, std::byte* out) const;

 private:
  ElementType values_;
  ReduceNeeds needs_;
  AxisParts parts_;
};

}  // namespace warpfold
