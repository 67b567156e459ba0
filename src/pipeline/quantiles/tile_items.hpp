#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "pipeline/regions/work_tiling.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// Items of a pass over a rank's tiles: boxes of tiles, to be gathered in tables, and parts of
/// tiles' outputs, to be found. Some tables are under way at once: while half of them are filled,
/// outputs of the others are found. Some items are empty.
class TileItems {
 public:
  /// Takes the rank's tiles, and for how many tables there is memory: 1 or more.
  TileItems(const WorkTiling& tiling, ElementRange tiles, std::uint64_t most_tables, int threads);

  std::uint64_t tables() const { return tables_; }
  std::uint64_t items() const { return (tiles_.count + lag_) * (boxes_ + parts_); }

  struct Item {
    std::uint64_t number = 0;           ///< number of the tile among the rank's
    std::uint64_t tile = 0;             ///< number in the tiling
    std::optional<std::uint64_t> box;   ///< a box, or
    std::optional<ElementRange> lines;  ///< a part: some outputs, or none
  };
  Item item(std::uint64_t number) const;

  std::uint64_t tiles() const { return tiles_.count; }
  std::uint64_t boxes_of(std::uint64_t number) const;
  std::uint64_t parts() const { return parts_; }

 private:
  const WorkTiling& tiling_;
  ElementRange tiles_;
  std::uint64_t boxes_;  ///< maximum per tile
  std::uint64_t tables_;
  std::uint64_t lag_;    ///< tiles whose boxes come before a tile's parts
  std::uint64_t parts_;  ///< parts per tile
};

/// Has threads that take these items in order wait for one another.
class TileProgress {
 public:
  explicit TileProgress(const TileItems& items) : items_(items), tiles_(items.tiles()) {}

  /// Return once a tile's table is free, or has all its elements: false once the work is to stop.
  bool wait_for_table(std::uint64_t tile, const std::stop_token& stop);
  bool wait_until_filled(std::uint64_t tile, const std::stop_token& stop);

  /// Counts a box; returns whether it is the tile's last one.
  bool add_box(std::uint64_t tile);

  /// A tile's table has all its elements.
  void set_filled(std::uint64_t tile);

  /// Counts a part.
  void add_part(std::uint64_t tile);

 private:
  struct Tile {
    std::uint64_t boxes = 0;
    std::uint64_t parts = 0;
    bool filled = false;
  };

  const TileItems& items_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Tile> tiles_;
};

}  // namespace warpfold::pipeline
