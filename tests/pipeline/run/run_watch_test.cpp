#include "pipeline/run/run_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/engine/stage_clock.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using std::chrono::milliseconds;

/// Keeps all that a run tells.
struct Listener {
  std::mutex mutex;
  std::vector<RunProgress> told;

  RunOptions options() {
    RunOptions options;
    options.progress_interval = milliseconds(1);
    options.progress = [this](const RunProgress& progress) {
      const std::lock_guard lock(mutex);
      told.push_back(progress);
    };
    return options;
  }

  void wait_for(std::size_t more) {
    const std::size_t enough = count() + more;
    while (count() < enough) std::this_thread::sleep_for(milliseconds(1));
  }

  std::size_t count() {
    const std::lock_guard lock(mutex);
    return told.size();
  }
};

TEST(RunWatch, TellsOfARunThatWaits) {
  Listener listener;
  const RunOptions options = listener.options();
  RunWatch watch(options);
  listener.wait_for(3);
  const std::lock_guard lock(listener.mutex);
  EXPECT_EQ(listener.told.back().pass, 0);
  EXPECT_GT(listener.told.back().seconds, listener.told.front().seconds);
}

TEST(RunWatch, TellsTheEndOnceMore) {
  Listener listener;
  RunOptions options = listener.options();
  options.progress_interval = std::chrono::hours(1);
  {
    RunWatch watch(options);
    watch.start_dataset("b", 2, 3);
    watch.start_pass(100);
    watch.start_pass(200);
    watch.advance(150);
    StageClock(watch.stages(), "read").time(7, [] {});
  }
  ASSERT_EQ(listener.told.size(), 1U);
  const RunProgress& last = listener.told.front();
  EXPECT_EQ(last.dataset, "b");
  EXPECT_EQ(last.number, 2U);
  EXPECT_EQ(last.datasets, 3U);
  EXPECT_EQ(last.pass, 2);
  EXPECT_EQ(last.done, 150U);
  EXPECT_EQ(last.total, 200U);
  EXPECT_GE(last.seconds, last.pass_seconds);
  ASSERT_EQ(last.stages.size(), 1U);
  EXPECT_EQ(last.stages.front().bytes, 7U);
}

/// What is told last.
RunProgress after(const std::function<void(RunWatch&)>& steps) {
  Listener listener;
  const RunOptions options = listener.options();
  {
    RunWatch watch(options);
    steps(watch);
  }
  return listener.told.back();
}

TEST(RunWatch, GoesForwardAlone) {
  const auto done = [](const std::function<void(RunWatch&)>& steps) { return after(steps).done; };
  const auto advances = [](RunWatch& watch) {
    watch.start_pass(100);
    watch.advance(60);
    watch.advance(50);
  };
  EXPECT_EQ(done(advances), 60U);
  EXPECT_EQ(done([&](RunWatch& watch) {
              advances(watch);
              watch.advance(1000);
            }),
            100U);
  EXPECT_EQ(done([&](RunWatch& watch) {
              advances(watch);
              watch.finish_pass();
            }),
            100U);
  EXPECT_EQ(done([&](RunWatch& watch) {
              advances(watch);
              watch.advance_share(3, 4);
              watch.advance_share(0, 0);
            }),
            75U);
}

TEST(RunWatch, WhatTheCallbackThrowsEndsTheRun) {
  RunOptions options;
  options.progress_interval = milliseconds(1);
  options.progress = [](const RunProgress&) { throw std::runtime_error("seen enough"); };
  RunWatch watch(options);
  const auto attend_for_long = [&] {
    for (int i = 0; i < 5000; ++i) {
      watch.attend();
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  EXPECT_THROW(attend_for_long(), std::runtime_error);
}

TEST(RunWatch, AnInterruptEndsTheRun) {
  const std::atomic<bool> interrupted = true;
  RunOptions options;
  options.interrupted = &interrupted;
  RunWatch watch(options);
  EXPECT_THROW(watch.attend(), Error);
}

}  // namespace
}  // namespace warpfold::pipeline
