#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/random_grids.hpp"
#include "core/layout/staged_chunks.hpp"
#include "core/layout/tiling.hpp"

namespace warpfold {
namespace {

using testing::ChunkedShape;
using testing::Extents;

/// A part of a small dataset, element by element.
struct SelectedDataset {
  ChunkedShape shape;
  Selection selection;
  ChunkGrid grid;
  std::vector<std::uint64_t> chunks;   ///< chunk of each selected element, in flat order
  std::vector<std::uint64_t> numbers;  ///< numbers of chunks that hold some, in rising order

  explicit SelectedDataset(std::mt19937_64& random)
      : shape(testing::random_shape(random)),
        selection(testing::random_selection(shape.shape, random)),
        grid(chunk_grid(shape.shape, shape.chunk_shape, selection)) {
    const auto places = testing::places_of(shape);
    for (const std::uint64_t index : testing::selected_indices(shape.shape, selection))
      chunks.push_back(places[index].chunk);
    numbers = chunks;
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }

  std::uint64_t elements() const { return chunks.size(); }

  std::uint64_t position(std::uint64_t element) const {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(numbers, chunks[element]) -
                                      numbers.begin());
  }

  /// Returns the place that a target gives to a selected element.
  std::uint64_t place_by(const ChunkTarget& target, std::uint64_t element) const {
    std::uint64_t place = 0;
    for (int d = grid.dimensions - 1; d >= 0; --d) {
      place += element % grid.selected_along(d) * target.stride[d];
      element /= grid.selected_along(d);
    }
    return place - target.origin;
  }
};

/// Calls body(dataset, random) for many datasets.
template <class Body>
void for_random_datasets(std::uint64_t seed, Body&& body) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 300; ++i) body(SelectedDataset(random), random);
}

TEST(SelectedGrid, CountsTheChunksThatHoldSomethingSelected) {
  for_random_datasets(1, [](const SelectedDataset& dataset, std::mt19937_64&) {
    const ChunkGrid& grid = dataset.grid;
    ASSERT_EQ(grid.chunks(), dataset.numbers.size());
    for (std::uint64_t position = 0; position < grid.chunks(); ++position)
      EXPECT_EQ(grid.number_at(position), dataset.numbers[position]);
    const std::uint64_t all = chunk_grid(dataset.shape.shape, dataset.shape.chunk_shape).chunks();
    for (std::uint64_t number = 0; number < all; ++number) {
      const auto position = grid.position_of(number);
      EXPECT_EQ(position.has_value(), std::ranges::binary_search(dataset.numbers, number));
      if (position) {
        EXPECT_EQ(grid.number_at(*position), number);
      }
    }
  });
}

TEST(SelectedGrid, ARangeOverlapsTheFewestChunksOfOneRun) {
  for_random_datasets(2, [](const SelectedDataset& dataset, std::mt19937_64& random) {
    const std::uint64_t first = random() % dataset.elements();
    const ElementRange range{first, 1 + random() % (dataset.elements() - first)};
    std::uint64_t minimum = ~std::uint64_t{0};
    std::uint64_t maximum = 0;
    for (std::uint64_t each = range.first; each < range.end(); ++each) {
      minimum = std::min(minimum, dataset.position(each));
      maximum = std::max(maximum, dataset.position(each));
    }
    EXPECT_EQ(chunks_overlapping(dataset.grid, range), (ChunkRun{minimum, maximum - minimum + 1}));
    EXPECT_GE(max_chunks_overlapping(dataset.grid, range.count), maximum - minimum + 1);
  });
}

TEST(SelectedGrid, RowsOfChunksMayHoldDifferentlyMany) {
  // A chunk of 13 has one or two of the 10,000 selected indices.
  const ChunkGrid grid = chunk_grid(Extents{70000}, Extents{13}, {{0, 10000, 7}});
  const std::uint64_t overlapping = chunks_overlapping(grid, {1, 5000}).count;
  EXPECT_GT(overlapping, 2600u);
  EXPECT_GE(max_chunks_overlapping(grid, 5000), overlapping);
  EXPECT_LE(max_chunks_overlapping(grid, 5000), grid.chunks());
  EXPECT_EQ(max_chunks_overlapping(grid, 0), 0u);
}

TEST(SelectedGrid, BoxesPackWhatTheirChunksHaveInFlatOrder) {
  for_random_datasets(3, [](const SelectedDataset& dataset, std::mt19937_64& random) {
    const ChunkGrid& grid = dataset.grid;
    const Tiling boxes = tile_chunks(grid, 1 + random() % (grid.chunks() + 3));
    std::uint64_t next_chunk = 0;
    for (std::uint64_t box = 0; box < boxes.items(); ++box) {
      const ChunkRun run = chunks_of(boxes, {box, 1});
      EXPECT_EQ(run.first, next_chunk);
      next_chunk = run.end();
      const ChunkTarget target = box_target(grid, run);
      const BoxIndices indices = box_indices(grid, run);
      std::uint64_t next = 0;
      for (std::uint64_t each = 0; each < dataset.elements(); ++each) {
        const std::uint64_t position = dataset.position(each);
        if (position < run.first || position >= run.end()) continue;
        EXPECT_EQ(dataset.place_by(target, each), next);
        EXPECT_EQ(indices(next), each);
        ++next;
      }
      EXPECT_EQ(target.elements, next);
      EXPECT_LE(next, max_elements_of(boxes, grid));
    }
    EXPECT_EQ(next_chunk, grid.chunks());
  });
}

TEST(SelectedGrid, FlatRangesKeepFlatOrder) {
  for_random_datasets(4, [](const SelectedDataset& dataset, std::mt19937_64& random) {
    const std::uint64_t first = random() % dataset.elements();
    const ElementRange range{first, 1 + random() % (dataset.elements() - first)};
    const ChunkTarget target = flat_target(dataset.grid, range);
    for (std::uint64_t each = 0; each < dataset.elements(); ++each)
      EXPECT_EQ(dataset.place_by(target, each), each - range.first);
  });
}

TEST(SelectedGrid, EverythingSelectedIsNoSelection) {
  const Extents shape{6, 4};
  EXPECT_FALSE(chunk_grid(shape, Extents{4, 3}, {{0, 6}, {0, 4}}).selective);
  EXPECT_TRUE(chunk_grid(shape, Extents{4, 3}, {{0, 6}, {0, 3}}).selective);
}

TEST(SelectedGrid, MergesWhatOneSliceDescribes) {
  const Extents shape{10, 6};
  const Extents rows{2, 6};
  EXPECT_EQ(chunk_grid(shape, rows, {{2, 5}, {0, 6}}).dimensions, 1);
  EXPECT_EQ(chunk_grid(shape, rows, {{2, 1}, {1, 2, 3}}).dimensions, 1);
  EXPECT_EQ(chunk_grid(shape, rows, {{2, 2, 3}, {0, 6}}).dimensions, 2);
  EXPECT_EQ(chunk_grid(shape, rows, {{2, 5}, {1, 5}}).dimensions, 2);
}

}  // namespace
}  // namespace warpfold
