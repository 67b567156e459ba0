#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cuda/inflate/inflated.hpp"

namespace warpfold::cuda::inflate {
namespace {

class Inflate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_not_inflated(); !why.empty()) GTEST_SKIP() << why;
  }
};

/// Inflates streams; fails where bytes behind an output are written.
std::vector<Inflated> inflate_all(const std::vector<Stored>& all, std::uint32_t active = groups) {
  std::vector<Inflated> results = inflated(all, active);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_FALSE(results[i].is_overrun) << i;
  return results;
}

Inflated inflate_one(const Bytes& stream, std::size_t out_bytes) {
  return inflate_all({{stream, out_bytes}}).front();
}

struct Deflation {
  int level = 6;
  int strategy = Z_DEFAULT_STRATEGY;
  int memory_level = 8;
  int window_bits = 15;
  int flush = Z_NO_FLUSH;  ///< after every 1000 bytes
};

Bytes deflated(const Bytes& bytes, const Deflation& how = {}) {
  z_stream stream{};
  EXPECT_EQ(
      deflateInit2(&stream, how.level, Z_DEFLATED, how.window_bits, how.memory_level, how.strategy),
      Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()) + 16 * bytes.size() / 1000 + 1024);
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  stream.next_in = const_cast<std::uint8_t*>(bytes.data());
  if (how.flush != Z_NO_FLUSH) {
    for (std::size_t done = 0; done < bytes.size(); done += 1000) {
      stream.avail_in = static_cast<uInt>(std::min<std::size_t>(1000, bytes.size() - done));
      EXPECT_EQ(deflate(&stream, how.flush), Z_OK);
    }
  } else {
    stream.avail_in = static_cast<uInt>(bytes.size());
  }
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::uint8_t random_byte(std::mt19937_64& random) { return static_cast<std::uint8_t>(random()); }

/// Bytes whose streams differ in what they are made of: noise (stored), zeros, repeated words,
/// skewed codes, runs, matches of a few bytes, short periods, byte planes of floats.
std::vector<Bytes> samples(std::size_t size, std::mt19937_64& random) {
  std::vector<Bytes> all(8, Bytes(size));
  for (std::uint8_t& byte : all[0]) byte = random_byte(random);
  for (std::size_t i = 0; i < size; ++i) {
    all[2][i] =
        static_cast<std::uint8_t>("abcabcabdxyz "[(i * i / 7 + (random() % 20 == 0 ? 1 : 0)) % 13]);
    const int skew = std::countr_zero(random() | std::uint64_t{1} << 40);
    all[3][i] =
        static_cast<std::uint8_t>(skew * 7 + (skew > 6 ? static_cast<int>(random() % 8) : 0));
    all[4][i] =
        i > 0 && random() % 200 != 0 ? all[4][i - 1] : static_cast<std::uint8_t>(random() % 3);
    all[5][i] = i > 150 && random() % 3 != 0 ? all[5][i - 1 - random() % 150]
                                             : static_cast<std::uint8_t>(random() % 200);
    const std::size_t period = 2 + size % 9;
    all[6][i] = i < period || i % 700 == 0 ? random_byte(random) : all[6][i - period];
    const float value = 280.0F + 20.0F * std::sin(static_cast<float>(i / 4) * 0.01F);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    all[7][i / 4 + i % 4 * (size / 4)] = static_cast<std::uint8_t>(bits >> (8 * (i % 4)));
  }
  return all;
}

const std::vector<Deflation>& deflations() {
  static const std::vector<Deflation> all{{.level = 0},
                                          {.level = 1},
                                          {.level = 4},
                                          {.level = 9, .memory_level = 9},
                                          {.strategy = Z_HUFFMAN_ONLY},
                                          {.strategy = Z_RLE},
                                          {.strategy = Z_FIXED},
                                          {.memory_level = 1},
                                          {.window_bits = 9},
                                          {.flush = Z_SYNC_FLUSH},
                                          {.flush = Z_FULL_FLUSH}};
  return all;
}

void expect_bytes(std::size_t size, std::uint32_t active) {
  std::mt19937_64 random(size);
  std::vector<Stored> cases;
  std::vector<Bytes> expected;
  for (const Bytes& sample : samples(size, random))
    for (const Deflation& how : deflations()) {
      cases.push_back({deflated(sample, how), size});
      expected.push_back(sample);
    }
  const std::vector<Inflated> results = inflate_all(cases, active);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(results[i].outcome.status, InflateStatus::good) << size << " bytes, stream " << i;
    EXPECT_EQ(results[i].outcome.taken, cases[i].stream.size()) << size << " bytes, stream " << i;
    EXPECT_TRUE(results[i].out == expected[i]) << size << " bytes, stream " << i;
  }
}

TEST_F(Inflate, StreamsOfZlibGiveTheirBytes) {
  for (const std::size_t size : std::vector<std::size_t>{0, 4, 32, 260, 2000})
    expect_bytes(size, groups);
}

TEST_F(Inflate, AnyNumberOfGroupsTakesStreams) {
  for (std::uint32_t active = 1; active < groups; ++active) expect_bytes(100, active);
}

TEST_F(Inflate, MatchesReachBackAsFarAsZlibMakesThem) {
  constexpr std::size_t window = 32768 - 262;
  std::mt19937_64 random(5);
  Bytes bytes(window + 3000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = i < window ? random_byte(random) : bytes[i - window + i / 300 % 3];
  const Bytes stream = deflated(bytes, {.level = 9});
  ASSERT_LT(stream.size(), window + 1000);
  const Inflated result = inflate_one(stream, bytes.size());
  EXPECT_EQ(result.outcome.status, InflateStatus::good);
  EXPECT_TRUE(result.out == bytes);
}

TEST_F(Inflate, BytesBehindAStreamAreNotItsOwn) {
  const Bytes sample(777, 3);
  Bytes stream = deflated(sample);
  const std::size_t own = stream.size();
  stream.insert(stream.end(), 9, 0x55);
  const Inflated result = inflate_one(stream, sample.size());
  EXPECT_EQ(result.outcome.status, InflateStatus::good);
  EXPECT_EQ(result.outcome.taken, own);
  EXPECT_EQ(result.out, sample);
}

TEST_F(Inflate, OutputsOfAnotherSizeAreRefused) {
  std::mt19937_64 random(2);
  std::vector<Stored> shorter;
  std::vector<Stored> longer;
  for (const Bytes& sample : samples(1000, random))
    for (const Deflation& how : deflations()) {
      shorter.push_back({deflated(sample, how), sample.size() - 1});
      longer.push_back({shorter.back().stream, sample.size() + 1});
    }
  for (const Inflated& result : inflate_all(shorter))
    EXPECT_EQ(result.outcome.status, InflateStatus::too_long);
  for (const Inflated& result : inflate_all(longer))
    EXPECT_EQ(result.outcome.status, InflateStatus::too_short);
}

TEST_F(Inflate, TruncatedStreamsAreRefused) {
  std::mt19937_64 random(3);
  for (const Bytes& sample : samples(300, random)) {
    const Bytes stream = deflated(sample);
    std::vector<Stored> cases;
    for (std::size_t bytes = 0; bytes < stream.size(); ++bytes)
      cases.push_back({{stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(bytes)}, 300});
    for (const Inflated& result : inflate_all(cases))
      EXPECT_NE(result.outcome.status, InflateStatus::good);
  }
}

/// Puts bits together as a stream has them.
class BitWriter {
 public:
  BitWriter& add(std::uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i) {
      if (count_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | (value >> i & 1) << count_ % 8);
      ++count_;
    }
    return *this;
  }

  /// With a zlib header before and room for a checksum behind.
  Bytes stream() const {
    Bytes whole{0x78, 0x9c};
    whole.insert(whole.end(), bytes_.begin(), bytes_.end());
    whole.insert(whole.end(), 4, 0);
    return whole;
  }

 private:
  Bytes bytes_;
  std::size_t count_ = 0;
};

InflateStatus status_of(const BitWriter& bits) {
  return inflate_one(bits.stream(), 100).outcome.status;
}

TEST_F(Inflate, WhatIsNoStreamIsToldByItsKind) {
  EXPECT_EQ(inflate_one(Bytes{0x79, 0x9c, 3, 0, 0, 0, 0, 1}, 0).outcome.status,
            InflateStatus::bad_header);
  EXPECT_EQ(inflate_one(Bytes{0x78, 0xbb, 3, 0, 0, 0, 0, 1}, 0).outcome.status,
            InflateStatus::bad_header);
  EXPECT_EQ(inflate_one(Bytes{0x88, 0x1c, 3, 0, 0, 0, 0, 1}, 0).outcome.status,
            InflateStatus::bad_header);
  EXPECT_EQ(status_of(BitWriter().add(1, 1).add(3, 2)), InflateStatus::bad_block_type);
  EXPECT_EQ(status_of(BitWriter().add(1, 1).add(0, 7).add(5, 16).add(5, 16)),
            InflateStatus::bad_stored);
  // The fixed codes of 286 and 287, which stand for nothing; a match before the first byte.
  EXPECT_EQ(status_of(BitWriter().add(1, 1).add(1, 2).add(0b01100011, 8)),
            InflateStatus::bad_symbol);
  EXPECT_EQ(status_of(BitWriter().add(1, 1).add(1, 2).add(0b1000000, 7).add(0, 5)),
            InflateStatus::bad_distance);
}

TEST_F(Inflate, LengthsOfCodesThatDoNotFitAreRefused) {
  // 31 codes of distances; a code of lengths of one symbol; one that begins with a repetition.
  EXPECT_EQ(status_of(BitWriter().add(1, 1).add(2, 2).add(0, 5).add(30, 5).add(0, 4)),
            InflateStatus::bad_lengths);
  EXPECT_EQ(status_of(BitWriter().add(1, 1).add(2, 2).add(0, 5).add(0, 5).add(0, 4).add(1, 3)),
            InflateStatus::bad_lengths);
  EXPECT_EQ(
      status_of(BitWriter().add(1, 1).add(2, 2).add(0, 10).add(0, 4).add(1, 3).add(1, 3).add(0, 6)),
      InflateStatus::bad_lengths);
}

void damage(Bytes& stream, std::mt19937_64& random) {
  for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
    stream[random() % stream.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
  if (random() % 4 == 0) stream.resize(1 + random() % stream.size());
}

TEST_F(Inflate, DamagedStreamsAreJudgedAsZlibDoes) {
  std::mt19937_64 random(4);
  int good = 0;
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<Stored> cases;
    for (const Bytes& sample : samples(200 + random() % 3000 / 4 * 4, random)) {
      Deflation how;
      how.level = static_cast<int>(random() % 10);
      how.strategy = static_cast<int>(random() % 5);
      how.memory_level = static_cast<int>(1 + random() % 9);
      cases.push_back({deflated(sample, how), sample.size()});
      if (random() % 5 != 0) damage(cases.back().stream, random);
    }
    const std::vector<Inflated> results = inflate_all(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const ZlibVerdict expected = by_zlib(cases[i]);
      const bool is_good = results[i].is_good(cases[i].stream);
      ASSERT_EQ(is_good, expected.is_good) << "round " << round << ", stream " << i;
      ++(is_good ? good : refused);
      if (!is_good) continue;
      EXPECT_EQ(results[i].out, expected.out);
      EXPECT_EQ(results[i].outcome.taken, expected.taken);
    }
  }
  EXPECT_GT(good, 50);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace warpfold::cuda::inflate
