#include "pipeline/quantiles/tile_items.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// Boxes under way for each thread, and parts, so that all end at about the same time.
constexpr std::uint64_t items_of_thread = 16;

/// Lines whose elements lie side by side, and share the lines of a cache, go to one thread.
constexpr std::uint64_t lines_together = 64;

}  // namespace

TileItems::TileItems(const WorkTiling& tiling, ElementRange tiles, std::uint64_t most_tables,
                     int threads)
    : tiling_(tiling), tiles_(tiles), boxes_(tiling.max_boxes()) {
  const std::uint64_t wanted = items_of_thread * static_cast<std::uint64_t>(threads);
  const std::uint64_t most = std::max<std::uint64_t>(1, std::min(most_tables, tiles.count));
  tables_ = std::min(std::max<std::uint64_t>(2, ceil_div(wanted, boxes_)), most);
  lag_ = tables_ / 2;
  parts_ = ceil_div(wanted, tables_ - lag_);
}

std::uint64_t TileItems::boxes_of(std::uint64_t number) const {
  return tiling_.boxes_of_tile(tiles_.first + number);
}

TileItems::Item TileItems::item(std::uint64_t number) const {
  const std::uint64_t turn = number / (boxes_ + parts_);
  const std::uint64_t of_turn = number % (boxes_ + parts_);
  const bool is_box = of_turn < boxes_;
  Item item;
  if (is_box ? turn >= tiles_.count : turn < lag_) return item;
  item.number = is_box ? turn : turn - lag_;
  item.tile = tiles_.first + item.number;
  if (!is_box)
    item.lines =
        partition(tiling_.outputs(item.tile).elements(), lines_together, parts_, of_turn - boxes_);
  else if (of_turn < boxes_of(item.number))
    item.box = of_turn;
  return item;
}

bool TileProgress::wait_for_table(std::uint64_t tile, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return tile < items_.tables() || changed_.wait(lock, stop, [&] {
    return tiles_[tile - items_.tables()].parts == items_.parts();
  });
}

bool TileProgress::wait_until_filled(std::uint64_t tile, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait(lock, stop, [&] { return tiles_[tile].filled; });
}

bool TileProgress::add_box(std::uint64_t tile) {
  const std::lock_guard lock(mutex_);
  return ++tiles_[tile].boxes == items_.boxes_of(tile);
}

void TileProgress::set_filled(std::uint64_t tile) {
  const std::lock_guard lock(mutex_);
  tiles_[tile].filled = true;
  changed_.notify_all();
}

void TileProgress::add_part(std::uint64_t tile) {
  const std::lock_guard lock(mutex_);
  if (++tiles_[tile].parts == items_.parts()) changed_.notify_all();
}

}  // namespace warpfold::pipeline
