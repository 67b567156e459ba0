#include "pipeline/regions/chunk_elements.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

/// Elements that are their index and one.
void number(ElementRange range, std::span<std::byte> out) {
  ASSERT_EQ(out.size(), 4 * range.count);
  for (std::uint64_t i = 0; i < range.count; ++i) {
    const auto element = static_cast<std::uint32_t>(range.first + i + 1);
    std::memcpy(out.data() + 4 * i, &element, 4);
  }
}

/// Chunk `number` element by element; 0 beyond the dataset.
std::vector<std::uint32_t> expected_chunk(const Extents& shape, const Extents& chunk_shape,
                                          std::uint64_t number) {
  Extents origin(shape.size());
  std::uint64_t elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::uint64_t along = (shape[d] + chunk_shape[d] - 1) / chunk_shape[d];
    origin[d] = number % along * chunk_shape[d];
    number /= along;
    elements *= chunk_shape[d];
  }
  std::vector<std::uint32_t> chunk(elements);
  for (std::uint64_t place = 0; place < elements; ++place) {
    std::uint64_t rest = place;
    std::uint64_t index = 0;
    std::uint64_t stride = 1;
    bool inside = true;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::uint64_t x = origin[d] + rest % chunk_shape[d];
      inside = inside && x < shape[d];
      index += x * stride;
      stride *= shape[d];
      rest /= chunk_shape[d];
    }
    chunk[place] = inside ? static_cast<std::uint32_t>(index + 1) : 0;
  }
  return chunk;
}

TEST(ChunkElements, EveryChunkIsFilledAsItsElementsLie) {
  const std::vector<std::pair<Extents, Extents>> cases{{{100}, {7}},
                                                       {{12}, {12}},
                                                       {{9, 13}, {4, 5}},
                                                       {{9, 13}, {1, 13}},
                                                       {{5, 6, 7}, {2, 3, 4}},
                                                       {{5, 6, 7}, {2, 6, 7}},
                                                       {{3, 1, 4, 5}, {2, 1, 4, 2}}};
  for (const auto& [shape, chunk_shape] : cases) {
    const ChunkGrid grid = chunk_grid(shape, chunk_shape);
    for (std::uint64_t each = 0; each < grid.chunks(); ++each) {
      std::vector<std::uint32_t> chunk(grid.chunk_elements(), 77);
      fill_chunk(grid, each, 4, &number, std::as_writable_bytes(std::span(chunk)));
      EXPECT_EQ(chunk, expected_chunk(shape, chunk_shape, each)) << each;
    }
  }
}

}  // namespace
}  // namespace warpfold::pipeline
