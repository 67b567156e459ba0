#include "cpu/machine/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "warpfold/core/error.hpp"

namespace warpfold::cpu {
namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const std::size_t tasks : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> runs(tasks);
      pool.parallel_for(tasks, [&](std::size_t task, int worker) {
        EXPECT_GE(worker, 0);
        EXPECT_LT(worker, threads);
        ++runs[task];
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, RethrowsATasksExceptionAndGoesOn) {
  ThreadPool pool(3);
  const auto fail = [](std::size_t task, int) {
    if (task == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(pool.parallel_for(100, fail), std::runtime_error);
  std::atomic<int> runs = 0;
  pool.parallel_for(100, [&](std::size_t, int) { ++runs; });
  EXPECT_EQ(runs, 100);
}

TEST(ThreadPool, TakesLoopsFromSeveralThreads) {
  ThreadPool pool(2);
  std::atomic<int> runs = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        for (int loop = 0; loop < 50; ++loop)
          pool.parallel_for(10, [&](std::size_t, int) { ++runs; });
      });
  }
  EXPECT_EQ(runs, 4 * 50 * 10);
}

TEST(ThreadPool, RefusesNoThreads) { EXPECT_THROW(ThreadPool(0), Error); }

}  // namespace
}  // namespace warpfold::cpu
