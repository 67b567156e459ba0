#include "pipeline/output/staged_dataset.hpp"

#include <gtest/gtest.h>

namespace warpfold::pipeline {
namespace {

using Extents = std::vector<std::uint64_t>;

Extents chosen(const Extents& shape, std::size_t element_bytes) {
  StorageOptions storage;
  storage.choose_chunk_shape = true;
  EXPECT_TRUE(storage.chunked());
  const StorageOptions made = with_chunk_shape(storage, shape, element_bytes);
  EXPECT_EQ(made.chunked(), !shape.empty());
  return made.chunk_shape;
}

TEST(StorageOptions, ChosenChunksHoldConsecutiveElementsUpTo4MiB) {
  EXPECT_EQ(chosen({1000}, 4), (Extents{1000}));
  EXPECT_EQ(chosen({5'000'000}, 4), (Extents{1 << 20}));
  EXPECT_EQ(chosen({5'000'000}, 1), (Extents{4 << 20}));
  EXPECT_EQ(chosen({9, 1000, 1000}, 8), (Extents{1, 524, 1000}));
  EXPECT_EQ(chosen({7, 3, 2'000'000}, 8), (Extents{1, 1, 524'288}));
  EXPECT_EQ(chosen({100, 10, 10}, 2), (Extents{100, 10, 10}));
  EXPECT_EQ(chosen({0, 10}, 2), (Extents{1, 10}));
  EXPECT_EQ(chosen({}, 2), (Extents{}));
}

TEST(StorageOptions, AGivenShapeStays) {
  StorageOptions storage;
  storage.chunk_shape = {7, 8};
  EXPECT_EQ(with_chunk_shape(storage, Extents{100, 100}, 4).chunk_shape, (Extents{7, 8}));
  EXPECT_FALSE(with_chunk_shape({}, Extents{100}, 4).chunked());
  StorageOptions shuffled;
  shuffled.shuffle = true;
  EXPECT_EQ(with_chunk_shape(shuffled, Extents{100}, 4).chunk_shape, Extents{100});
}

TEST(StorageOptions, Filtered) {
  StorageOptions storage;
  EXPECT_FALSE(storage.filtered());
  storage.deflate_level = 0;
  EXPECT_TRUE(storage.filtered());
}

}  // namespace
}  // namespace warpfold::pipeline
