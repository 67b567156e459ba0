#include <gtest/gtest.h>

#include <vector>

#include "pipeline/datasets/described_dataset.hpp"
#include "pipeline/regions/chunk_rows.hpp"
#include "pipeline/regions/work_plan.hpp"

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t much_memory = std::uint64_t{1} << 40;

WorkSizes wanted(const Extents& shape, int threads) {
  io::DatasetInfo info = described_dataset(shape, {}, ReadPath::direct);
  info.format.type = ElementType::f64;
  return wanted_sizes(info, needs_of_scan({}, ElementType::f64, false), {.threads = threads});
}

std::uint64_t fitted(const Extents& shape, const Extents& chunk, int threads,
                     std::uint64_t memory = much_memory) {
  return fit_to_output(wanted(shape, threads), ChunkRows(chunk_grid(shape, chunk)), product(shape),
                       sizeof(double), memory, {.threads = threads})
      .item_elements;
}

TEST(OutputBlocks, AreWholeRowsOfChunks) {
  EXPECT_EQ(fitted({100000, 1001}, {7, 100}, 1) % (7 * 1001), 0u);
  EXPECT_EQ(fitted({3, 1001, 1001}, {1, 1001, 1001}, 1) % (1001 * 1001), 0u);
}

TEST(OutputBlocks, HaveChunksForAllThreads) {
  const std::uint64_t chunk = 8 * 1024 * 32;
  const auto chunks = [&](int threads, std::uint64_t memory) {
    return fitted({1 << 20, 1024, 32}, {8, 1024, 32}, threads, memory) / chunk;
  };
  EXPECT_EQ(chunks(1, much_memory), 8u);
  EXPECT_EQ(chunks(64, much_memory), 64u);
  EXPECT_EQ(chunks(64, 16 * chunk * sizeof(double)), 16u);
  EXPECT_EQ(chunks(1000, much_memory), 128u);
}

TEST(OutputBlocks, StayAsTheyAreWhereARowIsTooLarge) {
  const Extents shape{100, 4 * mebibyte};
  EXPECT_EQ(fitted(shape, {9, 1024}, 1), wanted(shape, 1).item_elements);
  EXPECT_EQ(fitted(shape, {8, 1024}, 1), 32 * mebibyte);
}

}  // namespace
}  // namespace warpfold::pipeline
