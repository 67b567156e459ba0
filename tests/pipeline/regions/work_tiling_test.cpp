#include "pipeline/regions/work_tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "pipeline/datasets/described_dataset.hpp"
#include "pipeline/regions/box_tiling.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

std::string refusal(const std::vector<std::int64_t>& axes, const Extents& shape) {
  try {
    resolve_axes(axes, shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(ResolveAxes, NegativeOnesCountFromTheLast) {
  const Extents shape{4, 5, 6};
  const std::vector<std::int64_t> axes{-1, 0};
  EXPECT_EQ(resolve_axes(axes, shape), (std::vector<int>{0, 2}));
}

TEST(ResolveAxes, RefusesOthersAndTellsWhichThereAre) {
  EXPECT_NE(refusal({3}, {4, 5, 6}).find("from 0 to 2, or from -3 to -1"), std::string::npos);
  EXPECT_NE(refusal({-4}, {4, 5, 6}).find("there is no axis -4"), std::string::npos);
  EXPECT_NE(refusal({0}, {}).find("no dimensions"), std::string::npos);
  EXPECT_NE(refusal({1, -2}, {4, 5, 6}).find("axis 1 is given twice"), std::string::npos);
}

/// A random array, its axes and granule, and the tiling of it.
class RandomTiling {
 public:
  explicit RandomTiling(unsigned seed) : random_(seed) {}

  WorkTiling operator()() {
    Extents shape;
    Extents granule;
    std::vector<int> axes;
    const int dimensions = static_cast<int>(between(1, 5));
    for (int d = 0; d < dimensions; ++d) {
      shape.push_back(between(1, 7));
      granule.push_back(between(1, 4));
      if (between(0, 1) == 1) axes.push_back(d);
    }
    if (axes.empty()) axes.push_back(static_cast<int>(between(0, shape.size() - 1)));
    const AxisShape array(shape, axes, groups(axes, shape));
    const BoxLimits limits{between(1, 200), between(1, 40), between(1, 8)};
    return {array, choose_box_extents(array, granule, limits)};
  }

 private:
  /// Gives each index along one of the axes, or some of them together, a group.
  std::optional<AxisGroups> groups(const std::vector<int>& axes, const Extents& shape) {
    if (between(0, 1) == 1) return std::nullopt;
    AxisGroups groups{axes[between(0, axes.size() - 1)], between(1, 3), {}};
    const std::uint64_t extent = shape[static_cast<std::size_t>(groups.dimension)];
    groups.count = std::min(groups.count, extent);
    for (std::uint64_t first = 0; first < extent;) {
      const std::uint64_t runs = groups.runs.size();
      const std::uint64_t group = runs < groups.count ? runs : between(0, groups.count - 1);
      const std::uint64_t left = extent - first;
      const std::uint64_t needed = runs < groups.count ? groups.count - runs - 1 : 0;
      groups.runs.push_back({{first, between(1, left - needed)}, group});
      first = groups.runs.back().indices.end();
    }
    std::ranges::stable_sort(groups.runs, std::less{}, &GroupRun::group);
    return groups;
  }

  std::uint64_t between(std::uint64_t minimum, std::uint64_t maximum) {
    return std::uniform_int_distribution<std::uint64_t>(minimum, maximum)(random_);
  }

  std::mt19937 random_;
};

/// Calls body(coordinates, place in row-major order) for each element of a box.
template <class Body>
void for_each_element(const Hyperslab& box, Body&& body) {
  for (std::uint64_t place = 0; place < box.elements(); ++place) {
    Extents at(box.count.size());
    std::uint64_t rest = place;
    for (std::size_t d = at.size(); d-- > 0;) {
      at[d] = box.start[d] + rest % box.count[d];
      rest /= box.count[d];
    }
    body(at, place);
  }
}

std::uint64_t index_along(const Extents& at, std::span<const int> dimensions,
                          const Extents& shape) {
  std::uint64_t index = 0;
  for (const int d : dimensions)
    index = index * shape[static_cast<std::size_t>(d)] + at[static_cast<std::size_t>(d)];
  return index;
}

std::uint64_t group_of(std::uint64_t index, const AxisGroups& groups) {
  for (const GroupRun& run : groups.runs)
    if (index >= run.indices.first && index < run.indices.end()) return run.group;
  ADD_FAILURE() << index << " has no group";
  return 0;
}

std::uint64_t output_of(Extents at, const AxisShape& array) {
  Extents shape = array.shape;
  if (array.groups) {
    const auto d = static_cast<std::size_t>(array.groups->dimension);
    at[d] = group_of(at[d], *array.groups);
    shape[d] = array.groups->count;
  }
  return index_along(at, array.kept(), shape);
}

TEST(WorkTiling, BoxesHoldEachElementOnce) {
  RandomTiling make(1);
  for (int round = 0; round < 200; ++round) {
    const WorkTiling tiling = make();
    std::set<Extents> seen;
    for (std::uint64_t tile = 0; tile < tiling.tiles(); ++tile)
      for (std::uint64_t number = 0; number < tiling.boxes_of_tile(tile); ++number) {
        const Hyperslab box = tiling.box(tile, number);
        ASSERT_LE(box.elements(), tiling.max_elements());
        for_each_element(box,
                         [&](const Extents& at, auto) { ASSERT_TRUE(seen.insert(at).second); });
      }
    ASSERT_EQ(seen.size(), product(tiling.array().shape));
  }
}

TEST(WorkTiling, PlacesAreRowsOfOutputs) {
  RandomTiling make(2);
  for (int round = 0; round < 200; ++round) {
    const WorkTiling tiling = make();
    const AxisShape& array = tiling.array();
    for (std::uint64_t tile = 0; tile < tiling.tiles(); ++tile) {
      const Hyperslab outputs = tiling.outputs(tile);
      ASSERT_LE(outputs.elements(), tiling.max_outputs());
      Extents output_indices(outputs.elements());
      for_each_run(outputs, array.output_shape(),
                   [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
                     for (std::uint64_t i = 0; i < count; ++i)
                       output_indices[place + i] = index + i;
                   });
      const Hyperslab box = tiling.box(tile, tiling.boxes_of_tile(tile) - 1);
      const Extents stride = tiling.matrix_strides(box);
      const BoxIndices rows = tiling.row_indices(box);
      std::set<std::uint64_t> places;
      for_each_element(box, [&](const Extents& at, auto) {
        std::uint64_t place = 0;
        for (std::size_t d = 0; d < at.size(); ++d) place += (at[d] - box.start[d]) * stride[d];
        places.insert(place);
        ASSERT_EQ(output_indices[place % outputs.elements()], output_of(at, array));
        ASSERT_EQ(rows(place / outputs.elements()), index_along(at, array.along, array.shape));
      });
      ASSERT_EQ(places.size(), box.elements());
      ASSERT_EQ(*places.rbegin(), box.elements() - 1);
    }
  }
}

TEST(WorkTiling, BoxesMakeUpTheArraysOfTiles) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const WorkTiling tiling = RandomTiling(seed)();
    for (std::uint64_t tile = 0; tile < tiling.tiles(); ++tile) {
      const Extents shape = tiling.tile_shape(tile);
      std::vector<int> times(product(shape));
      for (std::uint64_t number = 0; number < tiling.boxes_of_tile(tile); ++number) {
        const Hyperslab part = tiling.box_in_tile(tile, number);
        ASSERT_EQ(part.count, tiling.box(tile, number).count);
        for_each_element(part, [&](const Extents& at, std::uint64_t) {
          for (std::size_t d = 0; d < at.size(); ++d) ASSERT_LT(at[d], shape[d]);
          ++times[flat_index(at, shape)];
        });
      }
      EXPECT_EQ(std::ranges::count(times, 1), static_cast<std::ptrdiff_t>(times.size())) << seed;
      EXPECT_EQ(product(extents_of(shape, tiling.array().across)), tiling.outputs(tile).elements());
    }
  }
}

TEST(WorkTiling, RunsOfABoxAreItsElementsInOrder) {
  RandomTiling make(3);
  for (int round = 0; round < 200; ++round) {
    const WorkTiling tiling = make();
    const Extents& shape = tiling.array().shape;
    const Hyperslab box =
        tiling.box(tiling.tiles() - 1, tiling.boxes_of_tile(tiling.tiles() - 1) - 1);
    Extents from_runs;
    for_each_run(box, shape, [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
      ASSERT_EQ(place, from_runs.size());
      for (std::uint64_t i = 0; i < count; ++i) from_runs.push_back(index + i);
    });
    Extents expected;
    for_each_element(box,
                     [&](const Extents& at, auto) { expected.push_back(flat_index(at, shape)); });
    ASSERT_EQ(from_runs, expected);
  }
}

TEST(WorkTiling, TellsOfFactorsWhatItIsTold) {
  AxisShape array({4, 5, 6}, std::vector<int>{0, 1});
  const Hyperslab box{{0, 0, 0}, {4, 5, 6}};
  const Extents extents{4, 5, 6};
  EXPECT_EQ(WorkTiling(array, extents).factor_places(box), 0u);
  array.factor_axes.emplace();
  EXPECT_EQ(WorkTiling(array, extents).factor_places(box), 6u);
  array.factor_axes = {1};
  EXPECT_EQ(WorkTiling(array, extents).factor_places(box), 30u);
}

TEST(GroupsOfLength, EndWithWhatIsLeft) {
  const AxisGroups groups = groups_of_length(4, 1, 10);
  EXPECT_EQ(groups.count, 3u);
  ASSERT_EQ(groups.runs.size(), 3u);
  EXPECT_EQ(groups.runs[2].indices.first, 8u);
  EXPECT_EQ(groups.runs[2].indices.count, 2u);
  const std::vector<int> axes{1};
  EXPECT_EQ(AxisShape({5, 10, 6}, axes, groups).output_shape(), (Extents{5, 3, 6}));
}

Extents extents(const Extents& shape, int axis, const Extents& granule, BoxLimits limits) {
  const std::vector<int> axes{axis};
  return choose_box_extents(AxisShape(shape, axes), granule, limits);
}

TEST(ChooseBoxExtents, TakesLongRunsAndRowsEnough) {
  const BoxLimits limits{1u << 20, 1u << 20, 32};
  EXPECT_EQ(extents({100'000, 100'000}, 0, {1, 1}, limits), (Extents{32, 32768}));
  EXPECT_EQ(extents({100'000, 100'000}, 1, {1, 1}, limits), (Extents{10, 100'000}));
  EXPECT_EQ(extents({10, 1'000'000'000}, 0, {1, 1}, limits), (Extents{10, 104857}));
  EXPECT_EQ(extents({10, 1'000'000'000}, 1, {1, 1}, limits), (Extents{1, 1u << 20}));
  EXPECT_EQ(extents({1'000'000'000, 10}, 0, {1, 1}, limits), (Extents{104857, 10}));
  EXPECT_EQ(extents({1'000'000'000, 10}, 1, {1, 1}, limits), (Extents{104857, 10}));
}

TEST(ChooseBoxExtents, TakesWholeGranules) {
  const BoxLimits limits{1u << 20, 1u << 20, 32};
  EXPECT_EQ(extents({1000, 1000, 1000}, 0, {100, 100, 100}, limits), (Extents{100, 100, 100}));
  EXPECT_EQ(extents({1000, 1000, 1000}, 1, {10, 30, 30}, limits), (Extents{10, 90, 1000}));
}

TEST(ChooseBoxExtents, KeepsToTheMostOutputsWhateverTheGranule) {
  const BoxLimits limits{1u << 20, 1000, 32};
  EXPECT_EQ(extents({50, 1'000'000}, 0, {1, 1'000'000}, limits), (Extents{50, 1000}));
  EXPECT_EQ(extents({50, 200, 300}, 0, {1, 200, 300}, limits), (Extents{50, 3, 300}));
}

TEST(GranuleOf, IsTheSelectedPartsOfChunks) {
  io::DatasetInfo info = described_dataset({40, 30}, {10, 5}, ReadPath::direct);
  EXPECT_EQ(granule_of(info), (Extents{10, 5}));
  info.selection = {{0, 20, 2}, {3, 1, 1, true}};
  EXPECT_EQ(granule_of(info), (Extents{5}));
  EXPECT_EQ(granule_of(described_dataset({40, 30}, {}, ReadPath::direct)), (Extents{1, 1}));
}

TEST(LinesOf, AreNoneWhereAllElementsAreOne) {
  EXPECT_FALSE(lines_of(Extents{4, 5}, std::nullopt));
  EXPECT_FALSE(lines_of(Extents{1, 5}, -1));
  EXPECT_EQ(lines_of(Extents{4, 5}, -1)->outputs(), 4u);
}

constexpr int some_ranks = 3;

/// A tiling of 1000 elements a box, for two threads of each rank.
WorkTiling tiling_of(const Extents& shape, int axis, Items items) {
  const std::vector<int> axes{axis};
  const WorkNeeds needs{.items = items, .array = AxisShape(shape, axes), .output_bytes = 192};
  return tile_boxes(described_dataset(shape, {}, ReadPath::direct), needs,
                    {.item_elements = 1000, .threads = 2}, some_ranks);
}

TEST(WorkTiling, EveryBoxIsInOneItem) {
  for (const Items items : {Items::parts_of_tiles, Items::tiles_of_ranks})
    for (const int axis : {0, 1}) {
      const WorkTiling tiling = tiling_of({3000, 7}, axis, items);
      std::vector<int> taken(tiling.tiles() * tiling.max_boxes());
      std::uint64_t elements = 0;
      for (std::uint64_t item = 0; item < tiling.items(); ++item) {
        const ElementRange boxes = tiling.boxes(item);
        for (std::uint64_t box = boxes.first; box < boxes.end(); ++box)
          ++taken[tiling.tile(item) * tiling.max_boxes() + box];
        elements += tiling.elements(item);
      }
      EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), static_cast<long>(taken.size()));
      EXPECT_EQ(elements, 21'000u);
    }
}

TEST(WorkTiling, FewOutputsAreSharedManyAreNot) {
  EXPECT_GT(tiling_of({100'000, 7}, 0, Items::parts_of_tiles).items_of_tile(), 1u);
  EXPECT_EQ(tiling_of({100'000, 7}, 1, Items::parts_of_tiles).items_of_tile(), 1u);
  EXPECT_EQ(tiling_of({100'000, 7}, 0, Items::tiles_of_ranks).items_of_tile(), 1u);
}

TEST(WorkTiling, BoxesOfADatasetAreItemsOfTheirOwn) {
  const WorkTiling tiling = tile_boxes(described_dataset({40, 30}, {10, 5}, ReadPath::direct),
                                       {.items = Items::boxes}, {.item_elements = 100}, 1);
  EXPECT_EQ(tiling.items(), tiling.boxes_of_tile(0));
  EXPECT_EQ(tiling.items(), 12u);
  EXPECT_EQ(tiling.box(0, 11), (Hyperslab{{30, 20}, {10, 10}}));
}

TEST(WorkTiling, AScalarIsABox) {
  const WorkTiling tiling(Tiling(Extents{}, Extents{}));
  EXPECT_EQ(tiling.items(), 1u);
  EXPECT_EQ(tiling.elements(0), 1u);
  EXPECT_EQ(tiling.box(0, 0), (Hyperslab{{}, {}}));
}

Extents extents_of_rows(std::uint64_t thread_memory) {
  constexpr std::size_t output_bytes = 200;
  const std::vector<int> axes{0};
  const Extents shape{100, 1024, 1024};
  const WorkNeeds needs{.items = Items::parts_of_tiles,
                        .array = AxisShape(shape, axes),
                        .output_bytes = output_bytes};
  return tile_boxes(described_dataset(shape, {1, 512, 512}, ReadPath::chunk), needs,
                    {.item_elements = 250'000, .threads = 16, .thread_memory = thread_memory}, 1)
      .box_extents();
}

TEST(WorkTiling, ChunksAreWholeWhereThreadsHaveMemoryForTheirOutputs) {
  constexpr std::uint64_t outputs_of_a_chunk = 512 * 512;
  EXPECT_EQ(extents_of_rows(200 * outputs_of_a_chunk), (Extents{1, 512, 512}));
  EXPECT_LT(product(extents_of_rows(200 * outputs_of_a_chunk - 1)), outputs_of_a_chunk);
}

Extents scan_extents(const Extents& shape, const Extents& chunk_shape, int ranks, Items items) {
  const std::vector<int> axes{0};
  const WorkNeeds needs{.items = items, .array = AxisShape(shape, axes), .output_bytes = 96};
  return tile_boxes(described_dataset(shape, chunk_shape, ReadPath::chunk), needs,
                    {.item_elements = 250'000, .threads = 2}, ranks)
      .box_extents();
}

TEST(WorkTiling, AScanTakesWholeGranulesUnlessRanksAreMore) {
  const Extents shape{1000, 361, 720};
  constexpr Items of_ranks = Items::tiles_of_ranks;
  EXPECT_EQ(scan_extents(shape, {1, 361, 720}, 1, of_ranks), (Extents{1, 361, 720}));
  EXPECT_EQ(scan_extents(shape, {1, 361, 720}, 2, of_ranks), (Extents{1, 181, 720}));
  EXPECT_EQ(scan_extents(shape, {1, 100, 720}, 2, of_ranks), (Extents{3, 100, 720}));
  EXPECT_EQ(scan_extents({1000, 1, 720}, {1, 1, 720}, 3, of_ranks), (Extents{347, 1, 240}));
  EXPECT_LT(scan_extents(shape, {1, 361, 720}, 1, Items::tiles_of_threads)[1], 361u);
}

TEST(WorkTiling, ItemsWithElementsAreThoseThatOverlap) {
  const Extents shape{23, 17, 6};
  const Extents chunk_shape{5, 4, 6};
  const Selection selection{{2, 9, 2}, {1, 5, 3}, {0, 6, 1}};
  const ChunkGrid grid = chunk_grid(shape, chunk_shape, selection);
  const std::uint64_t elements = 9 * 5 * 6;
  for (const std::uint64_t most : {1u, 2u, 7u, 100u}) {
    const WorkTiling tiling(tile_chunks(grid, most), grid);
    for (std::uint64_t first = 0; first <= elements; first += 30) {
      for (std::uint64_t end = first; end <= elements; end += 30) {
        const ElementRange found = tiling.items_with({first, end - first});
        for (std::uint64_t item = 0; item < tiling.items(); ++item) {
          const ElementRange chunks = tiling.range(item);
          const BoxIndices indices = box_indices(grid, {chunks.first, chunks.count});
          bool overlaps = false;
          for (std::uint64_t place = 0; place < tiling.elements(item); ++place)
            overlaps = overlaps || (indices(place) >= first && indices(place) < end);
          const bool is_found = item >= found.first && item < found.end();
          EXPECT_TRUE(is_found || !overlaps) << most << ", " << first << ", " << end;
        }
        EXPECT_TRUE(first < end || found.count == 0);
        EXPECT_TRUE(end - first < elements || found == (ElementRange{0, tiling.items()}));
      }
    }
  }
  const WorkTiling ranges(Tiling(100, 7));
  EXPECT_EQ(ranges.items_with({14, 1}), (ElementRange{2, 1}));
  EXPECT_EQ(ranges.items_with({13, 2}), (ElementRange{1, 2}));
  EXPECT_EQ(ranges.items_with({99, 1}), (ElementRange{14, 1}));
}

}  // namespace
}  // namespace warpfold::pipeline
