#include "cpu/chunks/chunk_axes.hpp"

namespace warpfold::cpu {

ChunkAxes::ChunkAxes(const ChunkGrid& grid, const ChunkTarget& target, std::uint64_t chunk)
    : first_target_(std::uint64_t{0} - target.origin) {
  std::uint64_t source = 1;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    const std::uint64_t along = grid.chunks_along(d);
    const std::uint64_t start = chunk % along * grid.chunk_extent[d];
    const auto [first, count] = grid.selected_of(d, chunk % along);
    chunk /= along;
    const ChunkAxis axis = {count, grid.step_along(d) * source, target.stride[d]};
    first_source_ += (grid.index_of(d, first) - start) * source;
    first_target_ += first * axis.target;
    source *= grid.chunk_extent[d];
    if (axis.count == 1) continue;
    ChunkAxis* inner = size_ > 0 ? &axes_[size_ - 1] : nullptr;
    if (inner && axis.source == inner->count * inner->source &&
        axis.target == inner->count * inner->target)
      inner->count *= axis.count;
    else
      axes_[size_++] = axis;
  }
  std::reverse(axes_, axes_ + size_);
}

bool ChunkAxes::within(std::uint64_t elements) const {
  std::uint64_t last = first_target_;
  for (int i = 0; i < size_; ++i) last += (axes_[i].count - 1) * axes_[i].target;
  return first_target_ < elements && last < elements && last >= first_target_;
}

ChunkAxes ChunkAxes::in_rows(std::uint64_t n) const {
  ChunkAxes axes = *this;
  axes.size_ = 0;
  for (int i = 0; i < size_; ++i) {
    ChunkAxis axis = axes_[i];
    const std::uint64_t of_row = n / axis.target;
    const bool of_rows = of_row > 1 && of_row * axis.target == n && axis.count > of_row &&
                         axis.count % of_row == 0 && first_target_ / axis.target % of_row == 0;
    if (of_rows && axes.size_ + size_ - i < max_dimensions) {
      axes.axes_[axes.size_++] = {axis.count / of_row, of_row * axis.source, n};
      axis.count = of_row;
    }
    axes.axes_[axes.size_++] = axis;
  }
  return axes;
}

}  // namespace warpfold::cpu
