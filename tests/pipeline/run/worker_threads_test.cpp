#include "pipeline/run/worker_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using std::chrono::milliseconds;

void until_stopped(const std::stop_token& stop) {
  while (!stop.stop_requested()) std::this_thread::sleep_for(milliseconds(1));
}

TEST(WorkerThreads, EachRunsOnceWithItsNumber) {
  std::mutex mutex;
  std::multiset<int> workers;
  WorkerThreads threads(5, [&](int worker, const std::stop_token&) {
    const std::lock_guard lock(mutex);
    workers.insert(worker);
  });
  while (!threads.wait_for(milliseconds(1))) continue;
  EXPECT_EQ(workers, (std::multiset<int>{0, 1, 2, 3, 4}));
}

TEST(WorkerThreads, WaitingEndsWithThePatience) {
  WorkerThreads threads(2, [](int, const std::stop_token& stop) { until_stopped(stop); });
  EXPECT_FALSE(threads.wait_for(milliseconds(1)));
  threads.stop();
  while (!threads.wait_for(milliseconds(1))) continue;
}

TEST(WorkerThreads, OneFailureStopsAll) {
  WorkerThreads threads(3, [](int worker, const std::stop_token& stop) {
    if (worker == 1) throw Error("disk on fire", "", "");
    until_stopped(stop);
  });
  try {
    while (!threads.wait_for(milliseconds(1))) continue;
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "disk on fire.");
  }
}

TEST(WorkerThreads, NoneAreDoneAtOnce) {
  WorkerThreads threads(0, [](int, const std::stop_token&) { FAIL(); });
  EXPECT_TRUE(threads.wait_for(milliseconds(0)));
}

TEST(WaitAllRanks, ReturnsWhenTheSlowestRankIsDone) {
  const mpi::Communicator world(MPI_COMM_WORLD);
  std::atomic<int> done = 0;
  WorkerThreads threads(2, [&](int, const std::stop_token&) {
    std::this_thread::sleep_for(milliseconds(10 * world.rank()));
    ++done;
  });
  int asked = 0;
  const RunOptions options;
  ProgressMonitor monitor(options);
  wait_all_ranks(threads, world, monitor, [&] { return std::uint64_t(++asked); });
  EXPECT_EQ(done, 2);
  EXPECT_GT(asked, 0);
}

TEST(WaitAllRanks, AWorkersFailureEndsAllRanks) {
  const mpi::Communicator world(MPI_COMM_WORLD);
  WorkerThreads threads(2, [&](int worker, const std::stop_token& stop) {
    if (world.is_last() && worker == 0) throw Error("disk on fire", "", "");
    until_stopped(stop);
  });
  const RunOptions options;
  ProgressMonitor monitor(options);
  EXPECT_THROW(wait_all_ranks(threads, world, monitor, [] { return std::uint64_t{0}; }), Error);
}

TEST(WaitAllRanks, AnInterruptOfOneRankEndsAll) {
  const mpi::Communicator world(MPI_COMM_WORLD);
  WorkerThreads threads(2, [](int, const std::stop_token& stop) { until_stopped(stop); });
  const std::atomic<bool> interrupted = world.is_root();
  RunOptions options;
  options.interrupted = &interrupted;
  ProgressMonitor monitor(options);
  EXPECT_THROW(wait_all_ranks(threads, world, monitor, [] { return std::uint64_t{0}; }), Error);
}

}  // namespace
}  // namespace warpfold::pipeline
