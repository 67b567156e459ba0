#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/layout/staged_chunks.hpp"
#include "cpu/chunks/bit_runs.hpp"

namespace warpfold::cpu {

/// A dimension of a chunk: `count` indices, the elements of each `source` elements further in the
/// chunk and `target` places further at the target than those of the one before.
struct ChunkAxis {
  std::uint64_t count = 1;
  std::uint64_t source = 0;
  std::uint64_t target = 0;

  bool operator==(const ChunkAxis&) const = default;
};

/// The dimensions of what a chunk brings to a target, the outermost first: as few as there can be,
/// none of a single index.
class ChunkAxes {
 public:
  ChunkAxes(const ChunkGrid& grid, const ChunkTarget& target, std::uint64_t chunk);

  int size() const { return size_; }
  const ChunkAxis& operator[](int i) const { return axes_[i]; }

  /// Returns the place of the first element that the chunk brings: in the chunk, and at the target,
  /// which counts modulo 2^64.
  std::uint64_t first_source() const { return first_source_; }
  std::uint64_t first_target() const { return first_target_; }

  /// Returns whether all of it goes to places below `elements`.
  bool within(std::uint64_t elements) const;

  /// Calls body(part) for parts of at most so many indices of each axis.
  template <class Body>
  void for_each_tile(std::span<const std::uint64_t, max_dimensions> counts, Body&& body) const {
    cut(0, counts, body);
  }

  /// Returns the axes of the same elements packed one behind another, in order.
  ChunkAxes packed() const {
    ChunkAxes axes = *this;
    axes.first_source_ = 0;
    std::uint64_t source = 1;
    for (int i = size_ - 1; i >= 0; --i) {
      axes.axes_[i].source = source;
      source *= axes_[i].count;
    }
    return axes;
  }

  /// Returns the axes of the same elements `places` further at the target.
  ChunkAxes moved(std::uint64_t places) const {
    ChunkAxes axes = *this;
    axes.first_target_ += places;
    return axes;
  }

  /// Returns the axes of `count` parts like this one, each packed behind the one before and `step`
  /// places further at the target. At most max_dimensions - 1 axes can be repeated.
  ChunkAxes repeated(std::uint64_t count, std::uint64_t step) const {
    ChunkAxes axes = packed();
    if (count == 1) return axes;
    for (int i = size_; i > 0; --i) axes.axes_[i] = axes.axes_[i - 1];
    axes.axes_[0] = {count, elements(), step};
    ++axes.size_;
    return axes;
  }

  /// Returns whether another chunk brings the same of its elements, by the same axes.
  bool alike(const ChunkAxes& other) const {
    return first_source_ == other.first_source_ &&
           std::equal(axes_, axes_ + size_, other.axes_, other.axes_ + other.size_);
  }

  /// Returns the axes of the same elements, each that consists of parts of rows of `n` places as
  /// two: that of the rows, and that of a row's places.
  ChunkAxes in_rows(std::uint64_t n) const;

  std::uint64_t elements() const {
    std::uint64_t elements = 1;
    for (int i = 0; i < size_; ++i) elements *= axes_[i].count;
    return elements;
  }

  /// Calls body(source, target) with the first element's place in the chunk and at the target, for
  /// all indices of the axes that are not in `skipped` (-1 is none).
  template <class Body>
  void for_each_beside(std::initializer_list<int> skipped, Body&& body) const {
    visit(0, skipped, first_source_, first_target_, body);
  }

 private:
  template <class Body>
  void cut(int axis, std::span<const std::uint64_t, max_dimensions> counts, Body& body) const {
    if (axis == size_) return body(*this);
    const auto [count, source, target] = axes_[axis];
    const std::uint64_t step = counts[static_cast<std::size_t>(axis)];
    for (std::uint64_t i = 0; i < count; i += step) {
      ChunkAxes part = *this;
      part.axes_[axis].count = std::min(step, count - i);
      part.first_source_ += i * source;
      part.first_target_ += i * target;
      part.cut(axis + 1, counts, body);
    }
  }

  template <class Body>
  void visit(int axis, std::initializer_list<int> skipped, std::uint64_t source,
             std::uint64_t target, Body&& body) const {
    while (axis < size_ && std::find(skipped.begin(), skipped.end(), axis) != skipped.end()) ++axis;
    if (axis == size_) return body(source, target);
    for (std::uint64_t i = 0; i < axes_[axis].count; ++i)
      visit(axis + 1, skipped, source + i * axes_[axis].source, target + i * axes_[axis].target,
            body);
  }

  int size_ = 0;
  std::uint64_t first_source_ = 0;
  std::uint64_t first_target_;
  ChunkAxis axes_[max_dimensions];
};

/// Calls body(source, n, index) for elements of a part of a chunk: runs of `n` that lie side by
/// side in the chunk, from place `source` on, and have consecutive indices from `index` on.
template <class Body>
void for_each_line(const ChunkAxes& part, const BoxIndices& indices, Body&& body) {
  const int last = part.size() - 1;
  const int inner = last >= 0 && part[last].source == 1 ? last : -1;
  const ChunkAxis line = inner < 0 ? ChunkAxis{} : part[inner];
  part.for_each_beside({inner}, [&](std::uint64_t source, std::uint64_t target) {
    const std::uint64_t first = indices(target);
    if (indices(target + (line.count - 1) * line.target) - first == line.count - 1)
      return body(source, line.count, first);
    if (line.target == 1)
      return for_each_index_run(indices, target, line.count, all_indices,
                                [&](std::uint64_t index, std::size_t done, std::size_t n) {
                                  body(source + done, std::uint64_t{n}, index);
                                });
    for (std::uint64_t i = 0; i < line.count; ++i)
      body(source + i, std::uint64_t{1}, indices(target + i * line.target));
  });
}

}  // namespace warpfold::cpu
