#pragma once

#include <cstdint>

#include "core/layout/staged_chunks.hpp"

namespace warpfold::cpu {

/// Elements that follow one another both in their chunk and at their target.
struct ChunkRow {
  std::uint64_t source = 0;  ///< place of the first in the chunk
  std::uint64_t target = 0;  ///< its place at the target
  std::uint64_t elements = 0;
};

/// The elements that a chunk brings to a target, in row-major order, as few rows as there can be.
class ChunkRows {
 public:
  ChunkRows(const ChunkGrid& grid, const ChunkTarget& target, std::uint64_t chunk);

  /// Calls body(row) for each.
  template <class Body>
  void for_each(Body&& body) const {
    std::uint64_t coordinate[max_dimensions] = {};
    Place at = first_;
    while (true) {
      if (const ChunkRow row = clipped(at); row.elements > 0) body(row);
      int d = outer_ - 1;
      for (; d >= 0 && ++coordinate[d] == steps_[d].count; --d) {
        coordinate[d] = 0;
        at.source -= steps_[d].source * (steps_[d].count - 1);
        at.target -= steps_[d].target * (steps_[d].count - 1);
      }
      if (d < 0) return;
      at.source += steps_[d].source;
      at.target += steps_[d].target;
    }
  }

 private:
  /// Targets may lie before the first place: they count modulo 2^64.
  struct Place {
    std::uint64_t source = 0;
    std::uint64_t target = 0;
  };

  /// From one row to the next along a dimension.
  struct Step {
    std::uint64_t count = 0;
    std::uint64_t source = 0;
    std::uint64_t target = 0;
  };

  ChunkRow clipped(Place at) const;

  Place first_;
  std::uint64_t row_elements_ = 1;
  std::uint64_t target_elements_;
  int outer_ = 0;  ///< dimensions beside those of the row
  Step steps_[max_dimensions];
};

}  // namespace warpfold::cpu
