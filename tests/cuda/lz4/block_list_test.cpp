#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/lz4/decoded.hpp"

namespace warpfold::cuda::lz4 {
namespace {

/// Makes a chunk of the sizes in front of it and, for each block, its own and as many bytes.
Bytes chunk_of(std::uint64_t bytes, std::uint32_t block_bytes,
               const std::vector<std::uint32_t>& blocks, std::size_t rest = 0) {
  Bytes chunk;
  const auto add = [&](std::uint64_t value, int width) {
    for (int i = width; i-- > 0;) chunk.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  add(bytes, 8);
  add(block_bytes, 4);
  for (const std::uint32_t block : blocks) {
    add(block, 4);
    chunk.resize(chunk.size() + block);
  }
  chunk.resize(chunk.size() + rest);
  return chunk;
}

/// A list's entry for a block.
struct Listed {
  std::ptrdiff_t stored;  ///< from the chunk's start
  std::uint32_t stored_bytes;
  std::ptrdiff_t out;
  std::uint32_t out_bytes;
  BlockForm form;

  bool operator==(const Listed&) const = default;
};

constexpr std::uint32_t chunk_number = 7;

/// Returns the blocks, also empty ones; nothing where the chunk is refused.
std::vector<Listed> listed(const Bytes& stored, const ChunkForm& form) {
  Bytes out(form.bytes);
  std::vector<Block> blocks(form.blocks + 1, Block{.out_bytes = 99});
  const Chunk chunk{stored.data(), out.data(), static_cast<std::uint32_t>(stored.size())};
  const bool good = BlockList(chunk, chunk_number, form, blocks.data()).fill();
  EXPECT_EQ(blocks.back().out_bytes, 99u) << "one too many";
  std::vector<Listed> list;
  for (std::uint32_t i = 0; i < form.blocks; ++i) {
    const Block& block = blocks[i];
    if (block.out_bytes == 0) continue;
    EXPECT_TRUE(good) << "blocks of a chunk that is refused";
    EXPECT_EQ(block.chunk, chunk_number);
    list.push_back({block.stored - stored.data(), block.stored_bytes, block.out - out.data(),
                    block.out_bytes, block.form});
  }
  return list;
}

using enum BlockForm;

TEST(BlockList, BlocksOfFullSizeAreStored) {
  EXPECT_EQ(
      listed(chunk_of(250, 100, {40, 100, 50}), {250, 3, 0}),
      (std::vector<Listed>{
          {16, 40, 0, 100, compressed}, {60, 100, 100, 100, stored}, {164, 50, 200, 50, stored}}));
  EXPECT_EQ(listed(chunk_of(250, 1 << 30, {70}), {250, 3, 0}),
            (std::vector<Listed>{{16, 70, 0, 250, compressed}}));
}

TEST(BlockList, ElementsBehindTheLastGroupAreStored) {
  EXPECT_EQ(listed(chunk_of(4 * 45, 64, {64, 9, 30}, 4 * 5), {4 * 45, 4, 4}),
            (std::vector<Listed>{{16, 64, 0, 64, compressed},
                                 {84, 9, 64, 64, compressed},
                                 {97, 30, 128, 32, compressed},
                                 {127, 20, 160, 20, stored}}));
}

TEST(BlockList, OthersAreRefused) {
  const Bytes good = chunk_of(250, 100, {40, 100, 50});
  EXPECT_EQ(listed(good, {250, 3, 0}).size(), 3u);
  EXPECT_TRUE(listed(good, {250, 2, 0}).empty());
  EXPECT_TRUE(listed(good, {251, 3, 0}).empty());
  EXPECT_TRUE(
      listed(chunk_of(250 + (std::uint64_t{1} << 32), 100, {40, 100, 50}), {250, 3, 0}).empty());
  EXPECT_TRUE(listed(chunk_of(250, 0, {40, 100, 50}), {250, 3, 0}).empty());
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_TRUE(
        listed({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, {250, 3, 0})
            .empty());
  EXPECT_EQ(listed(chunk_of(320, 64, {5, 5, 5, 5, 5}), {320, 6, 4}).size(), 5u);
  EXPECT_TRUE(listed(chunk_of(320, 60, {5, 5, 5, 5, 5, 5}), {320, 6, 4}).empty());
  EXPECT_EQ(listed(chunk_of(16384, 8192, {5, 5}), {16384, 3, 8}).size(), 2u);
  EXPECT_TRUE(listed(chunk_of(16384, 16384, {5}), {16384, 3, 8}).empty());
}

}  // namespace
}  // namespace warpfold::cuda::lz4
