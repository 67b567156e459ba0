#include "cuda/chunks/chunk_scatter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/layout/random_grids.hpp"
#include "cuda/support/assembled_chunks.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_chunks.hpp"

namespace warpfold::cuda {
namespace {

std::vector<std::byte> random_bytes(std::size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Strides that pack what is selected, any dimension the innermost.
ChunkTarget random_target(const ChunkGrid& grid, std::mt19937_64& random) {
  std::vector<int> order(static_cast<std::size_t>(grid.dimensions));
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2 == 0)
    std::ranges::shuffle(order, random);
  else
    std::ranges::reverse(order);
  ChunkTarget target;
  std::uint64_t elements = 1;
  for (const int d : order) {
    target.stride[d] = elements;
    elements *= grid.selected_along(d);
  }
  target.origin = random() % elements;
  target.elements = 1 + random() % (elements - target.origin);
  return target;
}

class CudaChunkScatter : public GpuTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  std::size_t element_bytes() const { return GetParam(); }

  /// All chunks that hold something selected, beside one element after the other.
  void expect_in_place(const warpfold::testing::ChunkedShape& shape, const Selection& selection) {
    const ChunkGrid grid = chunk_grid(shape.shape, shape.chunk_shape, selection);
    const ChunkTarget target = random_target(grid, random_);
    std::vector<std::byte> dataset = random_bytes(shape.elements() * element_bytes(), random_);
    const std::vector<std::byte> fill = random_bytes(element_bytes(), random_);
    std::uint64_t fill_bits = 0;
    std::memcpy(&fill_bits, fill.data(), fill.size());
    const SampleChunks sample =
        sample_chunks(grid, 0, grid.chunks(), dataset, element_bytes(), fill, random_);

    std::vector<std::byte> expected(target.elements * element_bytes() + guard_bytes, untouched);
    const auto indices = warpfold::testing::selected_indices(shape.shape, selection);
    for (std::uint64_t each = 0; each < indices.size(); ++each) {
      std::uint64_t rest = each;
      std::uint64_t place = std::uint64_t{0} - target.origin;
      for (int d = grid.dimensions - 1; d >= 0; --d) {
        place += rest % grid.selected_along(d) * target.stride[d];
        rest /= grid.selected_along(d);
      }
      if (place < target.elements)
        std::memcpy(expected.data() + place * element_bytes(),
                    dataset.data() + indices[each] * element_bytes(), element_bytes());
    }
    EXPECT_TRUE(assembled(kernels::scatter_chunks, sample, grid, target, element_bytes(),
                          fill_bits) == expected);
  }

  std::mt19937_64 random_{3};
};

TEST_P(CudaChunkScatter, SelectedElementsGoAnywhere) {
  for (int round = 0; round < 80; ++round) {
    const auto shape = warpfold::testing::random_shape(random_);
    expect_in_place(shape, warpfold::testing::random_selection(shape.shape, random_));
  }
}

TEST_P(CudaChunkScatter, LargeChunksAreSharedByManyWarps) {
  expect_in_place({{300, 401}, {150, 201}}, {{5, 290, 1}, {3, 130, 3}});
  expect_in_place({{300, 401}, {150, 201}}, {{0, 300, 1}, {0, 401, 1}});
  expect_in_place({{100003}, {40000}}, {{7, 49000, 2}});
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaChunkScatter, ::testing::Values(1, 2, 4, 8), size_name);

}  // namespace
}  // namespace warpfold::cuda
