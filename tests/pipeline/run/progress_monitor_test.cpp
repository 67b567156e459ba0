#include "pipeline/run/progress_monitor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using std::chrono::milliseconds;

/// Keeps all that a run tells.
struct Listener {
  std::mutex mutex;
  std::vector<RunProgress> reported;

  RunOptions options() {
    RunOptions options;
    options.progress_interval = milliseconds(1);
    options.progress = [this](const RunProgress& progress) {
      const std::lock_guard lock(mutex);
      reported.push_back(progress);
    };
    return options;
  }

  void wait_for(std::size_t more) {
    const std::size_t enough = count() + more;
    while (count() < enough) std::this_thread::sleep_for(milliseconds(1));
  }

  std::size_t count() {
    const std::lock_guard lock(mutex);
    return reported.size();
  }
};

TEST(ProgressMonitor, TellsOfARunThatWaits) {
  Listener listener;
  const RunOptions options = listener.options();
  ProgressMonitor monitor(options);
  listener.wait_for(3);
  const std::lock_guard lock(listener.mutex);
  EXPECT_EQ(listener.reported.back().pass, 0);
  EXPECT_GT(listener.reported.back().seconds, listener.reported.front().seconds);
}

TEST(ProgressMonitor, TellsTheEndOnceMore) {
  Listener listener;
  RunOptions options = listener.options();
  options.progress_interval = std::chrono::hours(1);
  {
    ProgressMonitor monitor(options);
    monitor.start_dataset("b", 2, 3);
    monitor.start_pass(100);
    monitor.start_pass(200);
    monitor.advance(150);
    StageTimer(monitor.stages(), "read").time(7, [] {});
  }
  ASSERT_EQ(listener.reported.size(), 1U);
  const RunProgress& last = listener.reported.front();
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

/// Returns the last progress reported.
RunProgress after(const std::function<void(ProgressMonitor&)>& steps) {
  Listener listener;
  const RunOptions options = listener.options();
  {
    ProgressMonitor monitor(options);
    steps(monitor);
  }
  return listener.reported.back();
}

TEST(ProgressMonitor, GoesForwardAlone) {
  const auto done = [](const std::function<void(ProgressMonitor&)>& steps) {
    return after(steps).done;
  };
  const auto advances = [](ProgressMonitor& monitor) {
    monitor.start_pass(100);
    monitor.advance(60);
    monitor.advance(50);
  };
  EXPECT_EQ(done(advances), 60U);
  EXPECT_EQ(done([&](ProgressMonitor& monitor) {
              advances(monitor);
              monitor.advance(1000);
            }),
            100U);
  EXPECT_EQ(done([&](ProgressMonitor& monitor) {
              advances(monitor);
              monitor.finish_pass();
            }),
            100U);
  EXPECT_EQ(done([&](ProgressMonitor& monitor) {
              advances(monitor);
              monitor.advance_share(3, 4);
              monitor.advance_share(0, 0);
            }),
            75U);
}

TEST(ProgressMonitor, WhatTheCallbackThrowsEndsTheRun) {
  RunOptions options;
  options.progress_interval = milliseconds(1);
  options.progress = [](const RunProgress&) { throw std::runtime_error("seen enough"); };
  ProgressMonitor monitor(options);
  const auto poll_for_long = [&] {
    for (int i = 0; i < 5000; ++i) {
      monitor.poll();
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  EXPECT_THROW(poll_for_long(), std::runtime_error);
}

TEST(ProgressMonitor, WhatTheCallbackThrowsInItsLastCallChangesNothing) {
  int calls = 0;
  RunOptions options;
  options.progress_interval = std::chrono::hours(1);
  options.progress = [&](const RunProgress&) {
    ++calls;
    throw std::runtime_error("too late");
  };
  {
    ProgressMonitor monitor(options);
    EXPECT_NO_THROW(monitor.poll());
  }
  EXPECT_EQ(calls, 1);
}

TEST(ProgressMonitor, AnInterruptEndsTheRun) {
  const std::atomic<bool> interrupted = true;
  RunOptions options;
  options.interrupted = &interrupted;
  ProgressMonitor monitor(options);
  EXPECT_THROW(monitor.poll(), Error);
}

}  // namespace
}  // namespace warpfold::pipeline
