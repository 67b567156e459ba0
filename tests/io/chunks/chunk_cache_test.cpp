#include "io/chunks/chunk_cache.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpfold::io {
namespace {

using Shape = std::vector<std::uint64_t>;

TEST(ChunkCacheFor, HoldsOneRowOfChunks) {
  const ChunkCache cache = chunk_cache_for(Shape{100, 25, 9}, Shape{10, 10, 3}, 4);
  EXPECT_EQ(cache.bytes, 3U * 3U * 10U * 10U * 3U * 4U);
  EXPECT_EQ(cache.slots, 907U);
}

TEST(ChunkCacheFor, HoldsAtMost256MiB) {
  const ChunkCache cache = chunk_cache_for(Shape{8, std::uint64_t{1} << 40}, Shape{1, 1 << 20}, 8);
  EXPECT_EQ(cache.bytes, std::size_t{256} << 20);
}

TEST(ChunkCacheFor, HoldsAtLeastOneChunk) {
  const ChunkCache cache = chunk_cache_for(Shape{1 << 30}, Shape{1 << 27}, 8);
  EXPECT_EQ(cache.bytes, std::size_t{1} << 30);
  EXPECT_EQ(cache.slots, 101U);
}

TEST(ChunkCacheFor, HandlesEmptyShapes) {
  EXPECT_EQ(chunk_cache_for(Shape{0, 0}, Shape{5, 5}, 2).bytes, 50U);
}

}  // namespace
}  // namespace warpfold::io
