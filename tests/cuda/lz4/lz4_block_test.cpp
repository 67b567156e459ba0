#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cuda/lz4/decoded.hpp"

namespace warpfold::cuda::lz4 {
namespace {

class Lz4 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_not_decoded(); !why.empty()) GTEST_SKIP() << why;
  }
};

Bytes lz4_bytes_of(const Bytes& bytes, int level = 0) {
  Bytes stored(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))));
  const auto* from = reinterpret_cast<const char*>(bytes.data());
  auto* to = reinterpret_cast<char*>(stored.data());
  const int size = static_cast<int>(bytes.size());
  const int room = static_cast<int>(stored.size());
  stored.resize(static_cast<std::size_t>(level == 0
                                             ? LZ4_compress_default(from, to, size, room)
                                             : LZ4_compress_HC(from, to, size, room, level)));
  return stored;
}

/// The library's result for a block; nothing if it refuses the block, or makes fewer bytes.
struct Verdict {
  bool is_good;
  Bytes out;
};

Verdict by_library(const StoredBlock& block) {
  Verdict verdict{false, Bytes(block.out_bytes)};
  verdict.is_good =
      LZ4_decompress_safe(reinterpret_cast<const char*>(block.stored.data()),
                          reinterpret_cast<char*>(verdict.out.data()),
                          static_cast<int>(block.stored.size()),
                          static_cast<int>(block.out_bytes)) == static_cast<int>(block.out_bytes);
  return verdict;
}

/// Whatever is taken is what the library makes of it. Returns how many were.
std::size_t expect_nothing_wrong(const std::vector<StoredBlock>& all) {
  const std::vector<DecodedBlock> mine = decoded(all);
  std::size_t good = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_FALSE(mine[i].is_overrun) << i;
    if (!mine[i].is_good) continue;
    ++good;
    const Verdict verdict = by_library(all[i]);
    EXPECT_TRUE(verdict.is_good) << i;
    EXPECT_EQ(mine[i].out, verdict.out) << i;
  }
  return good;
}

std::vector<Bytes> samples() {
  std::mt19937 random(1);
  std::vector<Bytes> all;
  for (const std::size_t size : {1u, 4u, 12u, 13u, 40u, 300u, 5000u, 9000u}) {
    Bytes bytes(size);
    all.push_back(bytes);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    all.push_back(bytes);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random() % 3); });
    all.push_back(bytes);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::uint8_t>(i % 7 == 0 ? random() : 5 + i % 7);
    all.push_back(bytes);
    // Every distance that runs into what it makes, and ones beyond a warp.
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t period = 1 + i / 600 % 90;
      bytes[i] = i < period ? static_cast<std::uint8_t>(random()) : bytes[i - period];
    }
    all.push_back(bytes);
  }
  return all;
}

TEST_F(Lz4, BlocksOfTheLibraryAreDecoded) {
  std::vector<StoredBlock> blocks;
  std::vector<Bytes> expected;
  for (const Bytes& bytes : samples()) {
    for (const int level : {0, 3, 12}) {
      blocks.push_back({lz4_bytes_of(bytes, level), bytes.size()});
      expected.push_back(bytes);
    }
    blocks.push_back({bytes, bytes.size(), BlockForm::stored});
    expected.push_back(bytes);
  }
  const std::vector<DecodedBlock> mine = decoded(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(mine[i].is_good) << i;
    EXPECT_FALSE(mine[i].is_overrun) << i;
    EXPECT_EQ(mine[i].out, expected[i]) << i;
  }
}

TEST_F(Lz4, DamagedBlocksAreRefusedOrWhatTheLibraryMakesOfThem) {
  std::mt19937 random(2);
  std::vector<StoredBlock> blocks;
  for (const Bytes& bytes : samples()) {
    const Bytes stored = lz4_bytes_of(bytes, 3);
    for (int i = 0; i < 8; ++i) {
      StoredBlock block{stored, bytes.size()};
      switch (random() % 4) {
        case 0:
          block.stored.resize(random() % (stored.size() + 1));
          break;
        case 1:
          block.out_bytes = 1 + random() % (bytes.size() + 20);
          break;
        default:
          for (std::size_t k = random() % 3 + 1; k > 0; --k)
            block.stored[random() % stored.size()] ^= static_cast<std::uint8_t>(1 << random() % 8);
      }
      blocks.push_back(std::move(block));
    }
  }
  const std::size_t good = expect_nothing_wrong(blocks);
  EXPECT_GT(good, blocks.size() / 100);
  EXPECT_LT(good, blocks.size() / 2);
}

TEST_F(Lz4, BlocksByHand) {
  const auto literals = [](std::size_t count) { return Bytes(count, 'x'); };
  const auto block = [](std::vector<Bytes> parts, std::size_t out_bytes) {
    Bytes stored;
    for (const Bytes& part : parts) stored.insert(stored.end(), part.begin(), part.end());
    return StoredBlock{stored, out_bytes};
  };
  const std::vector<std::pair<bool, StoredBlock>> cases{
      {false, block({}, 5)},
      {true, block({{0x50}, literals(5)}, 5)},
      {false, block({{0x50}, literals(5)}, 6)},
      {false, block({{0x50}, literals(5)}, 4)},
      {false, block({{0x50}, literals(4)}, 5)},
      {false, block({{0xf0}}, 20)},
      {false, block({{0xf0, 0xff, 0xff, 0xff}}, 2000)},
      {true, block({{0x14, 'x', 1, 0}, {0x50}, literals(5)}, 14)},
      {false, block({{0x14, 'x', 0, 0}, {0x50}, literals(5)}, 14)},        // no distance
      {false, block({{0x14, 'x', 2, 0}, {0x50}, literals(5)}, 14)},        // before the first byte
      {false, block({{0x14, 'x', 1, 0}}, 9)},                              // ends with a match
      {false, block({{0x14, 'x', 1, 0}, {0x40}, literals(4)}, 13)},        // too few last literals
      {false, block({{0x1f, 'x', 1, 0}}, 40)},                             // ends in a length
      {false, block({{0x1f, 'x', 1, 0, 0xff}, {0x50}, literals(5)}, 40)},  // longer than the output
      {true, block({{0x1f, 'x', 1, 0, 0x10}, {0x50}, literals(5)}, 41)},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [is_good, stored] = cases[i];
    EXPECT_EQ(decoded({stored}).front().is_good, is_good) << i;
    EXPECT_EQ(expect_nothing_wrong({stored}), is_good ? 1u : 0u) << i;
  }
}

/// As the filter does it, bit by bit.
Bytes bit_planes(const Bytes& bytes, std::size_t element_bytes) {
  const std::size_t elements = bytes.size() / element_bytes;
  Bytes planes(bytes.size());
  for (std::size_t element = 0; element < elements; ++element)
    for (std::size_t bit = 0; bit < 8 * element_bytes; ++bit)
      if ((bytes[element * element_bytes + bit / 8] >> bit % 8 & 1) != 0)
        planes[bit * elements / 8 + element / 8] |= static_cast<std::uint8_t>(1 << element % 8);
  return planes;
}

TEST_F(Lz4, PlanesOfBitsBecomeElements) {
  std::mt19937 random(3);
  for (const std::size_t element_bytes : {1u, 2u, 4u, 8u}) {
    std::vector<StoredBlock> blocks;
    std::vector<Bytes> expected;
    for (const std::size_t groups : {1u, 3u, 32u, 33u, 100u, 128u}) {
      const std::size_t elements = std::min(8 * groups, max_bit_plane_bytes / element_bytes);
      Bytes bytes(elements * element_bytes);
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(i % element_bytes == 0 ? random() : i / 64);
      blocks.push_back({lz4_bytes_of(bit_planes(bytes, element_bytes)), bytes.size()});
      expected.push_back(bytes);
      blocks.push_back({bytes, bytes.size(), BlockForm::stored});
      expected.push_back(bytes);
    }
    blocks.push_back({Bytes{0x50, 1, 2, 3}, 64});
    const std::vector<DecodedBlock> mine = decoded(blocks, element_bytes);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(mine[i].is_good) << element_bytes << ' ' << i;
      EXPECT_FALSE(mine[i].is_overrun) << element_bytes << ' ' << i;
      EXPECT_EQ(mine[i].out, expected[i]) << element_bytes << ' ' << i;
    }
    EXPECT_FALSE(mine.back().is_good);
  }
}

}  // namespace
}  // namespace warpfold::cuda::lz4
