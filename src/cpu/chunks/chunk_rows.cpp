#include "cpu/chunks/chunk_rows.hpp"

#include <algorithm>

namespace warpfold::cpu {

ChunkRows::ChunkRows(const ChunkGrid& grid, const ChunkTarget& target, std::uint64_t chunk)
    : target_elements_(target.elements) {
  first_.target = std::uint64_t{0} - target.origin;
  std::uint64_t source_stride = 1;
  // From the innermost dimension outwards, merging those that need no step between them.
  Step inwards[max_dimensions];
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    const std::uint64_t along = grid.chunks_along(d);
    const std::uint64_t start = chunk % along * grid.chunk_extent[d];
    const auto [first, count] = grid.selected_of(d, chunk % along);
    chunk /= along;
    first_.source += (grid.index_of(d, first) - start) * source_stride;
    first_.target += first * target.stride[d];
    const std::uint64_t step = grid.step_along(d) * source_stride;
    if (outer_ == 0 && step == row_elements_ && target.stride[d] == row_elements_) {
      row_elements_ *= count;
    } else if (count > 1) {
      inwards[outer_++] = {count, step, target.stride[d]};
    }
    source_stride *= grid.chunk_extent[d];
  }
  std::reverse_copy(inwards, inwards + outer_, steps_);
}

ChunkRow ChunkRows::clipped(Place at) const {
  const auto place = static_cast<std::int64_t>(at.target);
  const auto elements = static_cast<std::int64_t>(row_elements_);
  const std::int64_t skipped = std::clamp<std::int64_t>(-place, 0, elements);
  const std::int64_t end = std::min(elements, static_cast<std::int64_t>(target_elements_) - place);
  if (end <= skipped) return {};
  return {at.source + static_cast<std::uint64_t>(skipped),
          at.target + static_cast<std::uint64_t>(skipped),
          static_cast<std::uint64_t>(end - skipped)};
}

}  // namespace warpfold::cpu
