// That the emulated GPU shows what is wrong with a kernel.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "cuda/primitives/async_copy.cuh"
#include "cuda/primitives/relaxed.cuh"
#include "cuda/primitives/warp.cuh"
#include "emulator/grid.hpp"

namespace warpfold::emulator {
namespace {

constexpr int schedules = 50;

/// Returns in how many schedules `kernel(lane)`, run by the grid, leaves what `right()` refuses.
template <class Prepare, class Kernel, class Right>
int failures(const Grid& grid, Prepare prepare, Kernel kernel, Right right) {
  int count = 0;
  for (int seed = 0; seed < schedules; ++seed) {
    seed_schedule(static_cast<std::uint64_t>(seed));
    prepare();
    EXPECT_TRUE(run(grid, kernel));
    count += right() ? 0 : 1;
  }
  return count;
}

/// Threads read what their neighbours in another warp write.
int failures_of_exchange(bool barrier) {
  constexpr unsigned threads = 96;
  std::array<unsigned, threads> seen{};
  const auto kernel = [&seen, barrier] {
    __shared__ unsigned values[threads];
    values[threadIdx.x] = threadIdx.x + 1;
    if (barrier) __syncthreads();
    seen[threadIdx.x] = values[(threadIdx.x + 32) % threads];
    __syncthreads();
    values[threadIdx.x] = 0;
  };
  return failures(
      {.threads = threads}, [] {}, kernel,
      [&seen] {
        for (unsigned i = 0; i < threads; ++i)
          if (seen[i] != (i + 32) % threads + 1) return false;
        return true;
      });
}

TEST(EmulatorTest, AMissingBarrierIsSeen) {
  EXPECT_EQ(failures_of_exchange(true), 0);
  EXPECT_GT(failures_of_exchange(false), 0);
}

/// Lanes read what their neighbours in the warp write.
int failures_in_a_warp(bool synchronized) {
  std::array<unsigned, warp_lanes> seen{};
  const auto kernel = [&seen, synchronized] {
    __shared__ unsigned values[warp_lanes];
    values[threadIdx.x] = threadIdx.x + 1;
    if (synchronized) __syncwarp();
    seen[threadIdx.x] = values[(threadIdx.x + 1) % warp_lanes];
    __syncwarp();
    values[threadIdx.x] = 0;
  };
  return failures(
      {.threads = warp_lanes}, [] {}, kernel,
      [&seen] {
        for (unsigned i = 0; i < warp_lanes; ++i)
          if (seen[i] != (i + 1) % warp_lanes + 1) return false;
        return true;
      });
}

TEST(EmulatorTest, LanesOfAWarpAreInStepOnlyWhereTheySynchronize) {
  EXPECT_EQ(failures_in_a_warp(true), 0);
  EXPECT_GT(failures_in_a_warp(false), 0);
}

/// Lanes copy what they read at once, or after they waited for it.
int failures_of_copies(bool waits) {
  std::array<uint4, warp_lanes> source{};
  for (unsigned i = 0; i < warp_lanes; ++i) source[i] = {i + 1, 0, 0, 0};
  std::array<unsigned, warp_lanes> seen{};
  const auto kernel = [&source, &seen, waits] {
    __shared__ uint4 values[warp_lanes];
    values[threadIdx.x] = {};
    cuda::copy_async(&values[threadIdx.x], &source[threadIdx.x]);
    cuda::commit_copies();
    if (waits) cuda::wait_for_copies<0>();
    seen[threadIdx.x] = values[threadIdx.x].x;
    cuda::wait_for_copies<0>();
  };
  return failures(
      {.threads = warp_lanes}, [] {}, kernel,
      [&seen] {
        for (unsigned i = 0; i < warp_lanes; ++i)
          if (seen[i] != i + 1) return false;
        return true;
      });
}

TEST(EmulatorTest, ACopyThatIsNotWaitedForIsSeen) {
  EXPECT_EQ(failures_of_copies(true), 0);
  EXPECT_EQ(failures_of_copies(false), schedules);
}

/// Each block waits for the one before it and publishes a value, and that it is there.
int failures_of_chain(bool value_first) {
  std::array<std::uint64_t, multiprocessors + 1> flags{};
  std::array<std::uint64_t, multiprocessors + 1> values{};
  const auto kernel = [&, value_first] {
    const unsigned block = blockIdx.x;
    while (cuda::load_relaxed(&flags[block]) == 0) continue;
    const std::uint64_t next = cuda::load_relaxed(&values[block]) + 1;
    if (value_first) cuda::store_relaxed(&values[block + 1], next);
    cuda::store_relaxed(&flags[block + 1], 1);
    if (!value_first) cuda::store_relaxed(&values[block + 1], next);
  };
  const auto prepare = [&] {
    flags = {1};
    values = {1};
  };
  return failures({.blocks = multiprocessors, .resident = true}, prepare, kernel,
                  [&] { return values.back() == multiprocessors + 1; });
}

TEST(EmulatorTest, AChainOfBlocksThatPublishesTooEarlyIsSeen) {
  EXPECT_EQ(failures_of_chain(true), 0);
  EXPECT_GT(failures_of_chain(false), 0);
}

/// A pair of words is published whole, or with a mark in each.
TEST(EmulatorTest, PairsOfWordsAreTorn) {
  alignas(16) ulonglong2 pair{};
  bool torn = false;
  const auto kernel = [&] {
    if (blockIdx.x == 0) {
      for (std::uint64_t i = 1; i <= 100; ++i) cuda::store_relaxed(&pair, {i, i});
    } else {
      ulonglong2 seen{};
      while (seen.y != 100) {
        seen = cuda::load_relaxed(&pair);
        torn = torn || seen.x != seen.y;
      }
    }
  };
  ASSERT_TRUE(run({.blocks = 2, .resident = true}, kernel));
  EXPECT_TRUE(torn);
}

TEST(EmulatorTest, AtomicAdditionsOfAllThreadsCount) {
  unsigned sum = 0;
  ASSERT_TRUE(run({.blocks = 10, .threads = 70}, [&] { atomicAdd(&sum, threadIdx.x); }));
  EXPECT_EQ(sum, 10u * 70 * 69 / 2);
}

TEST(EmulatorTest, LanesThatHaveEndedAreNotWaitedFor) {
  unsigned lanes = 0;
  ASSERT_TRUE(run({.threads = warp_lanes}, [&] {
    if (threadIdx.x % 2 == 1) return;
    const unsigned even = __ballot_sync(0x55555555u, 1);
    __syncthreads();
    if (threadIdx.x == 0) lanes = even;
  }));
  EXPECT_EQ(lanes, 0x55555555u);
}

TEST(EmulatorTest, ShufflesPassValuesOfAnyWidth) {
  std::array<double, warp_lanes> up{};
  std::array<std::uint8_t, warp_lanes> across{};
  ASSERT_TRUE(run({.threads = warp_lanes}, [&] {
    up[threadIdx.x] = __shfl_up_sync(~0u, 0.5 * threadIdx.x, 3);
    across[threadIdx.x] = __shfl_xor_sync(~0u, static_cast<std::uint8_t>(threadIdx.x), 5);
  }));
  for (unsigned i = 0; i < warp_lanes; ++i) {
    EXPECT_EQ(up[i], 0.5 * (i < 3 ? i : i - 3));
    EXPECT_EQ(across[i], i ^ 5);
  }
}

TEST(EmulatorTest, ScansInOneMeetingEqualThoseByShuffles) {
  struct Affine {
    std::uint64_t factor;
    std::uint64_t offset;
    bool operator==(const Affine&) const = default;
  };
  const auto combine = [](const Affine& first, const Affine& second) {
    return Affine{first.factor * second.factor, first.offset * second.factor + second.offset};
  };
  std::array<Affine, warp_lanes> at_once{};
  std::array<Affine, warp_lanes> by_shuffles{};
  ASSERT_TRUE(run({.threads = warp_lanes}, [&] {
    const Affine own{2 * threadIdx.x + 3, threadIdx.x + 1};
    at_once[threadIdx.x] = cuda::warp::inclusive_scan(own, combine);
    by_shuffles[threadIdx.x] = cuda::warp::inclusive_scan(
        own, [&](const Affine& first, const Affine& second) { return combine(first, second); });
  }));
  EXPECT_EQ(at_once, by_shuffles);
  EXPECT_EQ(at_once[1], combine({3, 1}, {5, 2}));
}

TEST(EmulatorTest, GridsThatFindNoRoomAreRefused) {
  const auto nothing = [] {};
  EXPECT_FALSE(run({.blocks = most_resident_blocks + 1, .resident = true}, nothing));
  EXPECT_FALSE(run({.threads = 1025}, nothing));
  EXPECT_FALSE(run({.blocks = 0}, nothing));
  EXPECT_TRUE(run({.blocks = most_resident_blocks + 1}, nothing));
}

class EmulatorDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(EmulatorDeathTest, LanesInDifferentOperations) {
  EXPECT_DEATH(run({.threads = warp_lanes},
                   [] {
                     if (threadIdx.x == 7)
                       __syncwarp();
                     else
                       __ballot_sync(~0u, 1);
                   }),
               "lanes of a warp meet in different operations: thread [0-9]+ of block 0");
}

TEST_F(EmulatorDeathTest, WaitingForLanesThatWaitElsewhere) {
  EXPECT_DEATH(run({.threads = 2 * warp_lanes},
                   [] {
                     if (threadIdx.x == 40)
                       __syncwarp(~0u);
                     else
                       __syncthreads();
                   }),
               "all lanes of a block wait for others");
}

TEST_F(EmulatorDeathTest, WaitingForWhatNobodyWrites) {
  EXPECT_DEATH(run({.blocks = 2, .resident = true},
                   [] {
                     const std::uint64_t word = 0;
                     while (cuda::load_relaxed(&word) == 0) continue;
                   }),
               "blocks wait for what no other block writes");
}

TEST_F(EmulatorDeathTest, ATrap) {
  EXPECT_DEATH(run({}, [] { __trap(); }), "__trap\\(\\): thread 0 of block 0");
}

}  // namespace
}  // namespace warpfold::emulator
