#include "pipeline/quantiles/tile_items.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stop_token>
#include <vector>

namespace warpfold::pipeline {
namespace {

/// Tiles of 7 rows of 5 or fewer outputs, whose boxes have 2 rows; or of groups of rows.
WorkTiling sample_tiling(bool grouped) {
  const std::vector<std::uint64_t> shape{7, 23};
  const std::vector<int> axes{0};
  AxisShape array(shape, axes);
  if (grouped) array = AxisShape(shape, axes, groups_of_length(3, 0, 7));
  return {array, {2, 5}};
}

/// All boxes and outputs are taken once, and an item waits for earlier ones alone.
TEST(TileItems, ComeInAnOrderThatNeedsNoLaterOnes) {
  for (const bool grouped : {false, true})
    for (const std::uint64_t most_tables : {1u, 2u, 3u, 5u, 100u})
      for (const int threads : {1, 3}) {
        const WorkTiling tiling = sample_tiling(grouped);
        const ElementRange tiles{1, tiling.tiles() - 1};
        const TileItems items(tiling, tiles, most_tables, threads);
        EXPECT_LE(items.tables(), most_tables);
        std::map<std::uint64_t, std::uint64_t> boxes;
        std::map<std::uint64_t, std::uint64_t> parts;
        std::map<std::uint64_t, std::uint64_t> lines;
        for (std::uint64_t number = 0; number < items.items(); ++number) {
          const TileItems::Item item = items.item(number);
          if (!item.box && !item.lines) continue;
          EXPECT_EQ(item.tile, item.number + 1);
          if (item.box) {
            EXPECT_EQ(*item.box, boxes[item.tile]++);
            if (item.number >= items.tables()) {
              EXPECT_EQ(parts[item.tile - items.tables()], items.parts());
            }
          } else {
            EXPECT_EQ(boxes[item.tile], tiling.boxes_of_tile(item.tile));
            EXPECT_EQ(item.lines->first, lines[item.tile]);
            lines[item.tile] += item.lines->count;
            ++parts[item.tile];
          }
        }
        for (std::uint64_t tile = tiles.first; tile < tiles.end(); ++tile)
          EXPECT_EQ(lines[tile], tiling.outputs(tile).elements());
        EXPECT_EQ(lines.size(), tiles.count);
      }
}

TEST(TileProgress, ItemsWaitForOthersOrTheEnd) {
  const WorkTiling tiling = sample_tiling(false);
  const TileItems items(tiling, {0, tiling.tiles()}, 2, 1);
  ASSERT_EQ(items.tables(), 2u);
  TileProgress progress(items);
  std::stop_source stop;
  EXPECT_TRUE(progress.wait_for_table(1, stop.get_token()));
  for (std::uint64_t box = 1; box <= items.boxes_of(0); ++box)
    EXPECT_EQ(progress.add_box(0), box == items.boxes_of(0));
  progress.set_filled(0);
  EXPECT_TRUE(progress.wait_until_filled(0, stop.get_token()));
  for (std::uint64_t part = 0; part < items.parts(); ++part) progress.add_part(0);
  EXPECT_TRUE(progress.wait_for_table(2, stop.get_token()));
  stop.request_stop();
  EXPECT_FALSE(progress.wait_for_table(3, stop.get_token()));
  EXPECT_FALSE(progress.wait_until_filled(1, stop.get_token()));
}

}  // namespace
}  // namespace warpfold::pipeline
