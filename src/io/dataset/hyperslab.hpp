#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/selection.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::io {

/// A box of elements: `count[d]` of them from `start[d]` on along each dimension d.
struct Hyperslab {
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;

  std::uint64_t elements() const;
  bool operator==(const Hyperslab&) const = default;
};

/// The fewest hyperslabs, at most 2 * rank - 1 and in ascending order, that together hold the
/// row-major `range` of an array of `shape`. None for an empty range. The range must lie inside the
/// array and the array must have at least one dimension.
std::vector<Hyperslab> hyperslabs_of(std::span<const std::uint64_t> shape, ElementRange range);

/// The elements of `slab`, a box of an array that has all dimensions of `selection`.
Selection part_of(const Selection& selection, const Hyperslab& slab);

/// `slab`, a box of the selected array, with the dimensions that the selection dropped.
Hyperslab with_dropped_dimensions(const Selection& selection, const Hyperslab& slab);

/// The extents of a selection, those of dropped dimensions as well.
std::vector<std::uint64_t> counts_of(const Selection& selection);

}  // namespace warpfold::io
