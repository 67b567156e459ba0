#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "core/layout/staged_chunks.hpp"

namespace warpfold::cpu {

/// Positions of the lines of a row-major array. A line has the elements along some of its
/// dimensions.
struct LineLayout {
  /// Takes the dimensions of lines, rising.
  LineLayout(std::span<const std::uint64_t> shape, std::span<const int> along) {
    const std::vector<std::uint64_t> start(shape.size(), 0);
    std::vector<std::uint64_t> of_lines(shape.begin(), shape.end());
    std::vector<std::uint64_t> of_line(shape.size(), 1);
    for (const int d : along)
      std::swap(of_lines[static_cast<std::size_t>(d)], of_line[static_cast<std::size_t>(d)]);
    lines = product(of_lines);
    length = product(of_line);
    first = box_indices({start, of_lines}, row_major_strides(of_lines), shape);
    within = box_indices({start, of_line}, row_major_strides(of_line), shape);
    beside = consecutive(first, lines);
    run = consecutive(within, length);
  }

  /// Returns how many places of `places`, from multiples of it on, have consecutive indices.
  static std::uint64_t consecutive(const BoxIndices& indices, std::uint64_t places) {
    if (indices.dimensions == 0) return places;
    const int last = indices.dimensions - 1;
    return indices.stride[last] == 1 ? indices.extent[last] : 1;
  }

  std::uint64_t lines = 1;
  std::uint64_t length = 1;
  BoxIndices first;          ///< index of each line's first element
  BoxIndices within;         ///< offsets of a line's elements from its first one
  std::uint64_t beside = 1;  ///< lines side by side, from multiples of it on
  std::uint64_t run = 1;     ///< a line's elements side by side, from multiples of it on
};

}  // namespace warpfold::cpu
