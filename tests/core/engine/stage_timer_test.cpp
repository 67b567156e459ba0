#include "core/engine/stage_timer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace warpfold {
namespace {

using std::chrono::milliseconds;

StageProgress only_stage(const StageRegistry& registry) {
  const std::vector<StageProgress> stages = registry.progress();
  EXPECT_EQ(stages.size(), 1U);
  return stages.empty() ? StageProgress{} : stages.front();
}

TEST(StageTimer, AddsUpBytesAndReturnsWhatTheBodyReturns) {
  StageRegistry registry;
  StageTimer clock(registry, "read");
  EXPECT_EQ(clock.time(5, [] { return 42; }), 42);
  clock.time(7, [] {});
  const StageTiming timing = clock.timing();
  EXPECT_EQ(timing.stage, "read");
  EXPECT_EQ(timing.threads, 1);
  EXPECT_EQ(timing.bytes, 12U);
  EXPECT_GE(timing.seconds, 0);
}

TEST(StageTimer, IsSeenWhileItsBodyRuns) {
  StageRegistry registry;
  StageTimer clock(registry, "read");
  clock.time(5, [&] {
    std::this_thread::sleep_for(milliseconds(20));
    const StageProgress now = only_stage(registry);
    EXPECT_GE(now.busy, 0.020);
    EXPECT_EQ(now.bytes, 0U);
    EXPECT_EQ(now.threads, 1);
    EXPECT_TRUE(now.running);
  });
  const StageProgress after = only_stage(registry);
  EXPECT_EQ(after.busy, clock.timing().seconds);
  EXPECT_EQ(after.bytes, 5U);
}

TEST(StageRegistry, KeepsWhatClocksThatAreGoneDid) {
  StageRegistry registry;
  double busy = 0;
  for (int i = 0; i < 3; ++i) {
    StageTimer clock(registry, "read");
    clock.time(10, [] { std::this_thread::sleep_for(milliseconds(1)); });
    busy += clock.timing().seconds;
  }
  const StageProgress stage = only_stage(registry);
  EXPECT_EQ(stage.threads, 1);
  EXPECT_FALSE(stage.running);
  EXPECT_EQ(stage.bytes, 30U);
  EXPECT_DOUBLE_EQ(stage.busy, busy);
}

TEST(StageRegistry, AddsUpThreadsAndKeepsTheOrderThatDataTake) {
  StageRegistry registry;
  StageTimer writing(registry, stage::write);
  StageTimers reducing(registry, stage::reduce, 3);
  StageTimer reading(registry, stage::read);
  reducing[0].time(1, [] {});
  reducing[2].time(2, [] {});
  const auto stages = registry.progress();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].stage, "read");
  EXPECT_EQ(stages[1].stage, "fold");
  EXPECT_EQ(stages[1].threads, 3);
  EXPECT_EQ(stages[1].bytes, 3U);
  EXPECT_EQ(stages[2].stage, "write");
}

/// For the thread sanitizer, and for sums that lose nothing.
TEST(StageRegistry, MayBeLookedAtWhileThreadsComeAndGo) {
  StageRegistry registry;
  std::atomic<bool> over = false;
  std::thread onlooker([&] {
    while (!over)
      for (const StageProgress& each : registry.progress()) EXPECT_LE(each.bytes, 4000U);
  });
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          StageTimer clock(registry, "read");
          for (int j = 0; j < 10; ++j) clock.time(1, [] {});
        }
      });
  }
  over = true;
  onlooker.join();
  EXPECT_EQ(only_stage(registry).bytes, 4000U);
}

}  // namespace
}  // namespace warpfold
