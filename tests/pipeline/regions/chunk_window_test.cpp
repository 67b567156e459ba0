#include "pipeline/regions/chunk_window.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace warpfold::pipeline {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> content(std::uint64_t number) {
  return std::vector<std::byte>(number % 50 + 1, static_cast<std::byte>(number));
}

TEST(ChunkWindow, ChunksOfManyThreadsComeInOrder) {
  constexpr std::uint64_t chunks = 1000;
  ChunkWindow window(chunks, 5);
  std::stop_source stop;
  std::vector<std::jthread> makers;
  for (int i = 0; i < 4; ++i) {
    makers.emplace_back([&] {
      while (const auto number = window.claim(stop.get_token()))
        window.put(*number, {content(*number), static_cast<std::uint32_t>(*number)});
    });
  }
  for (std::uint64_t number = 0; number < chunks; ++number) {
    std::optional<io::EncodedChunk> chunk;
    while (!chunk) chunk = window.take(milliseconds(10));
    EXPECT_EQ(std::vector<std::byte>(chunk->bytes.begin(), chunk->bytes.end()), content(number));
    EXPECT_EQ(chunk->skipped_filters, number);
    window.release();
  }
}

TEST(ChunkWindow, NoMoreAreClaimedThanThereIsRoomFor) {
  ChunkWindow window(10, 3);
  std::atomic<int> claimed = 0;
  std::jthread maker([&](const std::stop_token& stop) {
    while (window.claim(stop)) ++claimed;
  });
  while (claimed < 3) std::this_thread::yield();
  EXPECT_FALSE(window.take(milliseconds(20)).has_value());
  EXPECT_EQ(claimed, 3);
}

TEST(ChunkWindow, NoneOfNone) {
  ChunkWindow window(0, 1);
  EXPECT_EQ(window.claim({}), std::nullopt);
}

}  // namespace
}  // namespace warpfold::pipeline
