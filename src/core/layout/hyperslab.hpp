#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/selection.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold {

/// Returns the elements of an array of such extents.
std::uint64_t product(std::span<const std::uint64_t> extents);

/// Returns the strides, in elements, of a row-major array.
std::vector<std::uint64_t> row_major_strides(std::span<const std::uint64_t> shape);

/// Returns the row-major index of the element at coordinates `at` of an array of `shape`.
std::uint64_t flat_index(std::span<const std::uint64_t> at, std::span<const std::uint64_t> shape);

/// A box of elements: `count[d]` of them from `start[d]` on along each dimension d.
struct Hyperslab {
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;

  std::uint64_t elements() const { return product(count); }
  bool operator==(const Hyperslab&) const = default;
};

/// Returns the fewest hyperslabs, at most 2 * rank - 1 and in ascending order, that together hold
/// the row-major `range` of an array of `shape`. None for an empty range. The range must lie inside
/// the array and the array must have at least one dimension.
std::vector<Hyperslab> hyperslabs_of(std::span<const std::uint64_t> shape, ElementRange range);

/// Returns what a slice takes of consecutive indices, which it counts from 0.
Slice slice_within(const Slice& slice, ElementRange indices);

/// Returns the elements of `slab`, a box of an array that has all dimensions of `selection`.
Selection part_of(const Selection& selection, const Hyperslab& slab);

/// Returns `slab`, a box of the selected array, with the dimensions that the selection dropped.
Hyperslab with_dropped_dimensions(const Selection& selection, const Hyperslab& slab);

/// Returns the extents of a selection, those of dropped dimensions as well.
std::vector<std::uint64_t> counts_of(const Selection& selection);

/// Calls body(place, index, count) for each run of elements of a box that are consecutive in an
/// array of `shape`, too: the run's place in the box (row-major), its flat index in the array, its
/// elements. The box has elements.
template <class Body>
void for_each_run(const Hyperslab& box, std::span<const std::uint64_t> shape, Body&& body) {
  // Dimensions behind `split` are covered, so that a run goes through all of them.
  std::size_t split = shape.size();
  std::uint64_t run = 1;
  while (split > 0) {
    --split;
    run *= box.count[split];
    if (box.count[split] != shape[split]) break;
  }
  std::vector<std::uint64_t> at(box.start);
  const std::uint64_t elements = box.elements();
  for (std::uint64_t place = 0; place < elements; place += run) {
    body(place, flat_index(at, shape), run);
    for (std::size_t d = split; d-- > 0;) {
      if (++at[d] < box.start[d] + box.count[d]) break;
      at[d] = box.start[d];
    }
  }
}

}  // namespace warpfold
