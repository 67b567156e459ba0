#include "io/filters/compressed_form.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpfold::io {
namespace {

Filter lz4(std::vector<unsigned> parameters) {
  return {filter_id::lz4, "lz4", true, std::move(parameters)};
}

/// Returns a bitshuffle filter, by default for elements of 4 bytes.
Filter bitshuffle(unsigned block_elements, unsigned compressor, unsigned element_bytes = 4) {
  return {
      filter_id::bitshuffle, "bitshuffle", true, {0, 4, element_bytes, block_elements, compressor}};
}

constexpr std::uint64_t chunk_bytes = 100'000;

/// Returns the blocks of a form that it must be; 0 where there is none.
std::uint64_t blocks(const Filter& filter, Compression expected) {
  const auto form = compressed_form(filter, 4, chunk_bytes);
  if (!form) return 0;
  EXPECT_EQ(form->compression, expected);
  EXPECT_EQ(form->chunk_bytes, chunk_bytes);
  EXPECT_EQ(form->element_bytes, 4u);
  return form->chunk_blocks;
}

TEST(CompressedForm, Deflate) {
  EXPECT_EQ(blocks({filter_id::deflate, "deflate", true, {6}}, Compression::zlib), 1u);
}

TEST(CompressedForm, BlocksOfLz4) {
  EXPECT_EQ(blocks(lz4({}), Compression::lz4), 1u);
  EXPECT_EQ(blocks(lz4({0}), Compression::lz4), 1u);
  EXPECT_EQ(blocks(lz4({1000}), Compression::lz4), 100u);
  EXPECT_EQ(blocks(lz4({999}), Compression::lz4), 101u);
  EXPECT_EQ(blocks(lz4({1u << 30}), Compression::lz4), 1u);
  EXPECT_EQ(blocks(lz4({100}), Compression::lz4), 0u);
}

TEST(CompressedForm, BitsOfLz4AloneIfTheirBlocksAreSmall) {
  constexpr Compression form = Compression::bitshuffled_lz4;
  EXPECT_EQ(blocks(bitshuffle(0, 2), form), 14u);
  EXPECT_EQ(blocks(bitshuffle(2048, 2), form), 14u);
  EXPECT_EQ(blocks(bitshuffle(1000, 2), form), 26u);
  EXPECT_EQ(blocks(bitshuffle(2056, 2), form), 0u);
  EXPECT_EQ(blocks(bitshuffle(64, 2), form), 0u);
  EXPECT_EQ(blocks(bitshuffle(0, 0), form), 0u);
  EXPECT_EQ(blocks(bitshuffle(0, 3), form), 0u);
  EXPECT_EQ(blocks(bitshuffle(0, 2, 2), form), 0u);
  EXPECT_EQ(blocks(bitshuffle(0, 2, 0), form), 0u);
}

TEST(CompressedForm, Others) {
  for (const int id : {filter_id::shuffle, filter_id::fletcher32, filter_id::zstd, filter_id::lzf})
    EXPECT_FALSE(compressed_form({id, "filter", true, {4}}, 4, chunk_bytes));
}

}  // namespace
}  // namespace warpfold::io
