#include "pipeline/run/work_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using Worker = WorkQueue::Worker;

class WorkQueueTest : public testing::Test {
 protected:
  std::vector<StageTiming> run(ElementRange items, int threads, const WorkQueue::Body& body) {
    return WorkQueue(items).run(threads, body, 100, monitor_, world_);
  }

  mpi::Communicator world_{MPI_COMM_WORLD};
  RunOptions options_;
  ProgressMonitor monitor_{options_};
};

TEST_F(WorkQueueTest, EachItemIsTakenOnce) {
  std::mutex mutex;
  std::vector<std::uint64_t> taken;
  run({7, 100}, 3, [&](Worker& worker) -> std::vector<StageTiming> {
    while (const auto item = worker.next()) {
      const std::lock_guard lock(mutex);
      taken.push_back(*item);
    }
    return {};
  });
  std::sort(taken.begin(), taken.end());
  ASSERT_EQ(taken.size(), 100u);
  for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], 7 + i);
}

TEST_F(WorkQueueTest, TimesAreThoseOfTheThreadsInOrder) {
  const auto stages = run({0, 0}, 3, [](Worker& worker) -> std::vector<StageTiming> {
    return {{"read", 1, 0, 0, static_cast<std::uint64_t>(worker.number())}};
  });
  ASSERT_EQ(stages.size(), 3u);
  for (std::size_t i = 0; i < stages.size(); ++i) EXPECT_EQ(stages[i].bytes, i);
}

TEST_F(WorkQueueTest, ARankMayHaveNoThreads) {
  const int threads = world_.is_root() ? 0 : 1;
  const auto stages = run({0, 1}, threads, [](Worker&) -> std::vector<StageTiming> {
    return {{"read", 1, 0, 0, 0}};
  });
  EXPECT_EQ(stages.size(), static_cast<std::size_t>(threads));
}

TEST_F(WorkQueueTest, OneFailureEndsTheWorkOfAllRanks) {
  const auto endless = [&](Worker& worker) -> std::vector<StageTiming> {
    if (world_.is_last() && worker.number() == 1) throw Error("disk on fire", "", "");
    while (!worker.is_to_stop()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(worker.next().has_value());
    return {};
  };
  try {
    run({0, 1000}, 2, endless);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "disk on fire");
  }
}

}  // namespace
}  // namespace warpfold::pipeline
