#include "io/files/coalescing.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace warpfold::io {
namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

std::vector<Wanted> wanted(const std::vector<FileBytes>& bytes) {
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < bytes.size(); ++i) all.push_back({bytes[i], i});
  return all;
}

std::vector<FileBytes> reads_for(const std::vector<FileBytes>& bytes,
                                 std::uint64_t max_bytes = unlimited) {
  const std::vector<Wanted> all = wanted(bytes);
  std::vector<CoalescedRead> reads;
  coalesce(all, max_bytes, reads);
  std::vector<FileBytes> fetched;
  for (const CoalescedRead& read : reads) fetched.push_back(read.bytes);
  return fetched;
}

TEST(Coalescing, NothingWantedIsNothingRead) { EXPECT_TRUE(reads_for({}).empty()); }

TEST(Coalescing, AdjacentBytesAreOneRead) {
  EXPECT_EQ(reads_for({{100, 50}, {150, 50}, {200, 7}}), (std::vector<FileBytes>{{100, 107}}));
}

TEST(Coalescing, AGapOfAnEighthIsReadAlong) {
  EXPECT_EQ(reads_for({{0, 40}, {50, 40}}), (std::vector<FileBytes>{{0, 90}}));
  EXPECT_EQ(reads_for({{0, 40}, {51, 40}}), (std::vector<FileBytes>{{0, 40}, {51, 40}}));
}

TEST(Coalescing, LargeGapsAreLeftOut) {
  const std::uint64_t mib = 1 << 20;
  EXPECT_EQ(reads_for({{0, mib}, {mib + 65536, mib}}).size(), 1U);
  EXPECT_EQ(reads_for({{0, mib}, {mib + 65537, mib}}).size(), 2U);
}

TEST(Coalescing, ReadsOfSeveralAreBounded) {
  EXPECT_EQ(reads_for({{0, 60}, {60, 40}, {100, 150}, {250, 10}}, 100),
            (std::vector<FileBytes>{{0, 100}, {100, 150}, {250, 10}}));
}

TEST(Coalescing, BytesMayBeWantedTwice) {
  EXPECT_EQ(reads_for({{0, 100}, {0, 100}, {50, 20}, {90, 20}}),
            (std::vector<FileBytes>{{0, 110}}));
}

TEST(Coalescing, AllIsCoveredOnceAndTheGapsStayBelowTheirShare) {
  std::mt19937 random(7);
  for (int repetition = 0; repetition < 100; ++repetition) {
    std::vector<FileBytes> bytes;
    std::uint64_t address = 0;
    for (int i = 0; i < 50; ++i) {
      bytes.push_back({address, 1 + random() % 100});
      address = bytes.back().end() + (random() % 2 == 0 ? 0 : random() % 30);
    }
    const std::vector<Wanted> all = wanted(bytes);
    std::vector<CoalescedRead> reads;
    coalesce(all, 500, reads);
    std::size_t next = 0;
    std::uint64_t fetched = 0;
    std::uint64_t needed = 0;
    for (const CoalescedRead& read : reads) {
      fetched += read.bytes.count;
      for (const Wanted& part : read.parts) {
        ASSERT_EQ(part.owner, next++);
        ASSERT_GE(part.bytes.address, read.bytes.address);
        ASSERT_LE(part.bytes.end(), read.bytes.end());
        needed += part.bytes.count;
      }
    }
    EXPECT_EQ(next, bytes.size());
    EXPECT_LE((fetched - needed) * gap_divisor, needed);
  }
}

}  // namespace
}  // namespace warpfold::io
