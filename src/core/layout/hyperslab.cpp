#include "core/layout/hyperslab.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/layout/partition.hpp"

namespace warpfold {
namespace {

using Shape = std::span<const std::uint64_t>;

std::vector<std::uint64_t> coordinates_of(Shape shape, std::uint64_t index) {
  std::vector<std::uint64_t> coordinates(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = index % shape[d];
    index /= shape[d];
  }
  return coordinates;
}

/// The elements that share `anchor`'s coordinates before `dimension`, take [begin, end) in it, and
/// are whole behind it. Adds nothing where [begin, end) is empty.
void add_slab(Shape shape, const std::vector<std::uint64_t>& anchor, std::size_t dimension,
              std::uint64_t begin, std::uint64_t end, std::vector<Hyperslab>& slabs) {
  if (begin >= end) return;
  Hyperslab slab{anchor, std::vector<std::uint64_t>(shape.begin(), shape.end())};
  for (std::size_t d = 0; d < dimension; ++d) slab.count[d] = 1;
  slab.start[dimension] = begin;
  slab.count[dimension] = end - begin;
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) slab.start[d] = 0;
  slabs.push_back(std::move(slab));
}

std::size_t first_difference(const std::vector<std::uint64_t>& first,
                             const std::vector<std::uint64_t>& last) {
  std::size_t d = 0;
  while (d + 1 < first.size() && first[d] == last[d]) ++d;
  return d;
}

}  // namespace

std::uint64_t product(Shape extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
}

std::vector<std::uint64_t> row_major_strides(Shape shape) {
  std::vector<std::uint64_t> stride(shape.size());
  std::uint64_t elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    stride[d] = elements;
    elements *= shape[d];
  }
  return stride;
}

std::uint64_t flat_index(std::span<const std::uint64_t> at, Shape shape) {
  std::uint64_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

std::vector<Hyperslab> hyperslabs_of(Shape shape, ElementRange range) {
  std::vector<Hyperslab> slabs;
  if (range.count == 0) return slabs;
  const std::vector<std::uint64_t> first = coordinates_of(shape, range.first);
  const std::vector<std::uint64_t> last = coordinates_of(shape, range.end() - 1);
  const std::size_t split = first_difference(first, last);

  // The deepest dimensions in which the range begins or ends inside a row.
  std::size_t deepest_begin = shape.size() - 1;
  while (deepest_begin > split && first[deepest_begin] == 0) --deepest_begin;
  std::size_t deepest_end = shape.size() - 1;
  while (deepest_end > split && last[deepest_end] + 1 == shape[deepest_end]) --deepest_end;

  for (std::size_t d = deepest_begin; d > split; --d) {
    add_slab(shape, first, d, first[d] + (d == deepest_begin ? 0 : 1), shape[d], slabs);
  }
  add_slab(shape, first, split, first[split] + (deepest_begin > split ? 1 : 0),
           last[split] + (deepest_end > split ? 0 : 1), slabs);
  for (std::size_t d = split + 1; d <= deepest_end; ++d) {
    add_slab(shape, last, d, 0, last[d] + (d == deepest_end ? 1 : 0), slabs);
  }
  return slabs;
}

Slice slice_within(const Slice& slice, ElementRange indices) {
  const auto taken_before = [&](std::uint64_t index) {
    const std::uint64_t beyond = index - std::min(index, slice.start);
    return std::min(slice.count, ceil_div(beyond, slice.step));
  };
  const std::uint64_t before = taken_before(indices.first);
  const std::uint64_t count = taken_before(indices.end()) - before;
  const std::uint64_t start = count == 0 ? 0 : slice.start + before * slice.step - indices.first;
  return {start, count, slice.step, slice.dropped};
}

Selection part_of(const Selection& selection, const Hyperslab& slab) {
  Selection part = selection;
  for (std::size_t d = 0; d < part.size(); ++d) {
    part[d].start += slab.start[d] * part[d].step;
    part[d].count = slab.count[d];
  }
  return part;
}

Hyperslab with_dropped_dimensions(const Selection& selection, const Hyperslab& slab) {
  Hyperslab whole;
  std::size_t kept = 0;
  for (const Slice& slice : selection) {
    whole.start.push_back(slice.dropped ? 0 : slab.start[kept]);
    whole.count.push_back(slice.dropped ? 1 : slab.count[kept]);
    if (!slice.dropped) ++kept;
  }
  return whole;
}

std::vector<std::uint64_t> counts_of(const Selection& selection) {
  std::vector<std::uint64_t> counts;
  for (const Slice& slice : selection) counts.push_back(slice.count);
  return counts;
}

}  // namespace warpfold
