#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/layout/partition.hpp"
#include "pipeline/regions/axis_tiling.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// A rank's tiles, taken in batches: threads gather all boxes of a batch before they look for
/// quantiles in parts of its tiles. An item is a box or a part; some are empty.
class TileBatches {
 public:
  /// Takes the most tiles of a batch.
  TileBatches(const AxisTiling& tiling, ElementRange tiles, std::uint64_t most, int threads)
      : tiling_(tiling), tiles_(tiles), boxes_(tiling.max_boxes()) {
    const std::uint64_t wanted = items_of_thread * static_cast<std::uint64_t>(threads);
    most = std::min(most, tiles.count);
    tiles_of_batch_ =
        std::clamp<std::uint64_t>(ceil_div(wanted, boxes_), 1, std::max<std::uint64_t>(1, most));
    parts_ = ceil_div(wanted, tiles_of_batch_);
  }

  std::uint64_t tiles_of_batch() const { return tiles_of_batch_; }
  std::uint64_t items() const { return ceil_div(tiles_.count, tiles_of_batch_) * items_of_batch(); }

  struct Item {
    std::uint64_t after = 0;           ///< items that are to be done before
    std::uint64_t place = 0;           ///< of the tile in its batch
    std::uint64_t tile = 0;            ///< it has
    std::optional<std::uint64_t> box;  ///< a box, or
    ElementRange lines;                ///< some outputs, or nothing
  };

  Item item(std::uint64_t number) const {
    const std::uint64_t batch = number / items_of_batch();
    const std::uint64_t begin = batch * items_of_batch();
    const std::uint64_t boxes = tiles_of_batch_ * boxes_;
    const bool is_box = number - begin < boxes;
    const std::uint64_t of_step = number - begin - (is_box ? 0 : boxes);
    const std::uint64_t of_tile = is_box ? boxes_ : parts_;
    Item item;
    item.after = begin + (is_box ? 0 : boxes);
    item.place = of_step / of_tile;
    item.tile = tiles_.first + batch * tiles_of_batch_ + item.place;
    if (item.tile >= tiles_.end()) return item;
    const std::uint64_t of_item = of_step % of_tile;
    if (!is_box)
      item.lines =
          partition(tiling_.outputs(item.tile).elements(), lines_together, parts_, of_item);
    else if (of_item < tiling_.boxes_of_tile(item.tile))
      item.box = of_item;
    return item;
  }

 private:
  /// Boxes of a batch for each thread, and parts, so that all end at about the same time.
  static constexpr std::uint64_t items_of_thread = 16;

  /// Lines whose elements lie side by side, and share the lines of a cache, go to one thread.
  static constexpr std::uint64_t lines_together = 64;

  std::uint64_t items_of_batch() const { return tiles_of_batch_ * (boxes_ + parts_); }

  const AxisTiling& tiling_;
  ElementRange tiles_;
  std::uint64_t boxes_;  ///< of a tile, at most
  std::uint64_t tiles_of_batch_;
  std::uint64_t parts_;  ///< of a tile
};

}  // namespace warpfold::pipeline
