#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::cpu {

/// A block's elements, cut into ranges of consecutive tiles that threads take: a few for each, so
/// that threads slowed down by others leave some of theirs.
class BlockRanges {
 public:
  BlockRanges(std::uint64_t elements, int threads)
      : elements_(elements),
        count_(std::min<std::size_t>(ceil_div(elements, scan_order::tile_elements),
                                     static_cast<std::size_t>(threads) * ranges_per_thread)) {}

  std::size_t count() const { return count_; }
  ElementRange operator[](std::size_t range) const {
    return partition(elements_, scan_order::tile_elements, count_, range);
  }

 private:
  static constexpr std::size_t ranges_per_thread = 4;

  std::uint64_t elements_;
  std::size_t count_;
};

}  // namespace warpfold::cpu
