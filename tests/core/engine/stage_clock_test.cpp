#include "core/engine/stage_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace warpfold {
namespace {

using std::chrono::milliseconds;

StageProgress only_stage(const StageBoard& board) {
  const std::vector<StageProgress> stages = board.progress();
  EXPECT_EQ(stages.size(), 1U);
  return stages.empty() ? StageProgress{} : stages.front();
}

TEST(StageClock, AddsUpBytesAndReturnsWhatTheBodyReturns) {
  StageBoard board;
  StageClock clock(board, "read");
  EXPECT_EQ(clock.time(5, [] { return 42; }), 42);
  clock.time(7, [] {});
  const StageTiming timing = clock.timing();
  EXPECT_EQ(timing.stage, "read");
  EXPECT_EQ(timing.threads, 1);
  EXPECT_EQ(timing.bytes, 12U);
  EXPECT_GE(timing.seconds, 0);
}

TEST(StageClock, IsSeenWhileItsBodyRuns) {
  StageBoard board;
  StageClock clock(board, "read");
  clock.time(5, [&] {
    std::this_thread::sleep_for(milliseconds(20));
    const StageProgress now = only_stage(board);
    EXPECT_GE(now.busy, 0.020);
    EXPECT_EQ(now.bytes, 0U);
    EXPECT_EQ(now.threads, 1);
    EXPECT_TRUE(now.running);
  });
  const StageProgress after = only_stage(board);
  EXPECT_EQ(after.busy, clock.timing().seconds);
  EXPECT_EQ(after.bytes, 5U);
}

TEST(StageBoard, KeepsWhatClocksThatAreGoneDid) {
  StageBoard board;
  double busy = 0;
  for (int i = 0; i < 3; ++i) {
    StageClock clock(board, "read");
    clock.time(10, [] { std::this_thread::sleep_for(milliseconds(1)); });
    busy += clock.timing().seconds;
  }
  const StageProgress stage = only_stage(board);
  EXPECT_EQ(stage.threads, 1);
  EXPECT_FALSE(stage.running);
  EXPECT_EQ(stage.bytes, 30U);
  EXPECT_DOUBLE_EQ(stage.busy, busy);
}

TEST(StageBoard, AddsUpThreadsAndKeepsTheOrderThatDataTake) {
  StageBoard board;
  StageClock writing(board, stage::write);
  StageClocks folding(board, stage::fold, 3);
  StageClock reading(board, stage::read);
  folding[0].time(1, [] {});
  folding[2].time(2, [] {});
  const auto stages = board.progress();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].stage, "read");
  EXPECT_EQ(stages[1].stage, "fold");
  EXPECT_EQ(stages[1].threads, 3);
  EXPECT_EQ(stages[1].bytes, 3U);
  EXPECT_EQ(stages[2].stage, "write");
}

/// For the thread sanitizer, and for sums that lose nothing.
TEST(StageBoard, MayBeLookedAtWhileThreadsComeAndGo) {
  StageBoard board;
  std::atomic<bool> over = false;
  std::thread onlooker([&] {
    while (!over)
      for (const StageProgress& each : board.progress()) EXPECT_LE(each.bytes, 4000U);
  });
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          StageClock clock(board, "read");
          for (int j = 0; j < 10; ++j) clock.time(1, [] {});
        }
      });
  }
  over = true;
  onlooker.join();
  EXPECT_EQ(only_stage(board).bytes, 4000U);
}

}  // namespace
}  // namespace warpfold
