#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "cuda/chunks/chunk_assembly.hpp"
#include "cuda/support/assembled_chunks.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_chunks.hpp"

namespace warpfold::cuda {
namespace {

class CudaChunkAssembly : public GpuTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  std::size_t element_bytes() const { return GetParam(); }

  std::uint64_t in(std::uint64_t minimum, std::uint64_t maximum) {
    return minimum + random_() % (maximum - minimum + 1);
  }

  /// Returns a random grid of about `elements` elements.
  ChunkGrid random_grid(int dimensions, double elements) {
    const auto side = static_cast<std::uint64_t>(std::pow(elements, 1.0 / dimensions));
    ChunkGrid grid;
    grid.dimensions = dimensions;
    for (int d = 0; d < dimensions; ++d) {
      grid.extent[d] = in(1, 2 * side);
      grid.chunk_extent[d] = in(1, std::max<std::uint64_t>(side, 1));
    }
    return grid;
  }

  std::vector<std::byte> random_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
    return bytes;
  }

  /// The chunks [first, first + count) brought to the target, beside one element after the other.
  void expect_in_place(const ChunkGrid& grid, std::uint64_t first, std::uint64_t count,
                       const ChunkTarget& target) {
    std::uint64_t elements = 1;
    for (int d = 0; d < grid.dimensions; ++d) elements *= grid.extent[d];
    std::vector<std::byte> dataset = random_bytes(elements * element_bytes());
    std::uint64_t fill = random_();
    if (element_bytes() < 8) fill &= (std::uint64_t{1} << (8 * element_bytes())) - 1;
    std::byte fill_bytes[8];
    std::memcpy(fill_bytes, &fill, sizeof(fill));
    const SampleChunks sample =
        sample_chunks(grid, first, count, dataset, element_bytes(), fill_bytes, random_);

    std::vector<std::byte> expected(target.elements * element_bytes() + guard_bytes, untouched);
    for (std::uint64_t number = first; number < first + count; ++number) {
      visit_chunk(grid, number, [&](std::uint64_t, std::uint64_t index) {
        if (index == no_place) return;
        std::uint64_t rest = index;
        std::uint64_t place = std::uint64_t{0} - target.origin;
        for (int d = grid.dimensions - 1; d >= 0; --d) {
          place += rest % grid.extent[d] * target.stride[d];
          rest /= grid.extent[d];
        }
        if (place < target.elements)
          std::memcpy(expected.data() + place * element_bytes(),
                      dataset.data() + index * element_bytes(), element_bytes());
      });
    }
    EXPECT_TRUE(assembled(kernels::assemble_chunks, sample, grid, target, element_bytes(), fill) ==
                expected);
  }

  std::mt19937_64 random_{1};
};

std::uint64_t chunk_count(const ChunkGrid& grid) {
  std::uint64_t chunks = 1;
  for (int d = 0; d < grid.dimensions; ++d) chunks *= grid.chunks_along(d);
  return chunks;
}

TEST_P(CudaChunkAssembly, AnyChunksGoToAnyFlatRange) {
  for (int round = 0; round < 60; ++round) {
    const ChunkGrid grid = random_grid(1 + round % 5, 4000);
    ChunkTarget target;
    std::uint64_t elements = 1;
    for (int d = grid.dimensions - 1; d >= 0; --d) {
      target.stride[d] = elements;
      elements *= grid.extent[d];
    }
    target.origin = in(0, elements - 1);
    target.elements = in(1, elements - target.origin);
    const std::uint64_t first = in(0, chunk_count(grid) - 1);
    expect_in_place(grid, first, in(1, chunk_count(grid) - first), target);
    expect_in_place(grid, 0, chunk_count(grid), target);
  }
}

TEST_P(CudaChunkAssembly, BoxesArePacked) {
  for (int round = 0; round < 40; ++round) {
    const ChunkGrid grid = random_grid(1 + round % 5, 4000);
    const auto cut = static_cast<int>(in(0, static_cast<unsigned>(grid.dimensions - 1)));
    // Boxes have one chunk along each dimension before the cut, and all chunks along those after
    // it.
    std::uint64_t behind = 1;
    for (int d = cut + 1; d < grid.dimensions; ++d) behind *= grid.chunks_along(d);
    const std::uint64_t rows = chunk_count(grid) / behind;
    const std::uint64_t row = in(0, rows - 1);
    const std::uint64_t span = in(1, grid.chunks_along(cut) - row % grid.chunks_along(cut));
    ChunkTarget target;
    target.elements = 1;
    std::uint64_t rest = row;
    for (int d = grid.dimensions - 1; d >= 0; --d) {
      std::uint64_t begin = 0;
      std::uint64_t end = grid.extent[d];
      if (d <= cut) {
        begin = rest % grid.chunks_along(d) * grid.chunk_extent[d];
        end = std::min(end, begin + (d == cut ? span : 1) * grid.chunk_extent[d]);
        rest /= grid.chunks_along(d);
      }
      target.stride[d] = target.elements;
      target.origin += begin * target.stride[d];
      target.elements *= end - begin;
    }
    expect_in_place(grid, row * behind, span * behind, target);
  }
}

TEST_P(CudaChunkAssembly, OneLargeChunkIsSharedByManyWarps) {
  ChunkGrid grid;
  grid.dimensions = 1;
  grid.extent[0] = 700001;
  grid.chunk_extent[0] = 300007;
  ChunkTarget target;
  target.stride[0] = 1;
  target.origin = 5;
  target.elements = 650000;
  expect_in_place(grid, 0, 3, target);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaChunkAssembly, ::testing::Values(1, 2, 4, 8), size_name);

}  // namespace
}  // namespace warpfold::cuda
