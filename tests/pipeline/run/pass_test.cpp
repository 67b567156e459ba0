#include "pipeline/run/pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Keeps the items that it takes until it has finished.
class Keeper final : public Consumer {
 public:
  using Body = std::function<void(PassThread& thread)>;

  Keeper(std::vector<std::uint64_t>& kept, PassThread& thread, Body body)
      : kept_(kept), thread_(thread), body_(std::move(body)) {}

  void take(const PassItem& item) override {
    mine_.push_back(item.number);
    if (body_) body_(thread_);
  }

  void finish() override {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    kept_.insert(kept_.end(), mine_.begin(), mine_.end());
  }

  std::vector<StageTiming> timings() const override { return {{"read", 1, 0, 0, mine_.size()}}; }

 private:
  std::vector<std::uint64_t>& kept_;
  PassThread& thread_;
  Body body_;
  std::vector<std::uint64_t> mine_;
};

class PassTest : public ::testing::Test {
 protected:
  std::vector<StageTiming> run(const PassItems& plan, const Keeper::Body& body = {}) {
    return run_pass(plan, monitor_, world_, [&](PassThread& thread) {
      return std::make_unique<Keeper>(kept_, thread, body);
    });
  }

  mpi::Communicator world_{MPI_COMM_WORLD};
  RunOptions options_;
  ProgressMonitor monitor_{options_};
  std::vector<std::uint64_t> kept_;
};

TEST_F(PassTest, EachItemIsTakenOnce) {
  for (const std::uint64_t grain_size : {1u, 7u}) {
    kept_.clear();
    run({.items = {7, 100}, .threads = 3, .bytes = 100, .grain_size = grain_size});
    std::ranges::sort(kept_);
    ASSERT_EQ(kept_.size(), 100u);
    for (std::size_t i = 0; i < kept_.size(); ++i) EXPECT_EQ(kept_[i], 7 + i);
  }
}

TEST_F(PassTest, TimesAreThoseOfAllThreadsTogether) {
  const auto stages = run({.items = {0, 50}, .threads = 3});
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages.front().threads, 3);
  EXPECT_EQ(stages.front().bytes, 50u);
}

TEST_F(PassTest, ARankMayHaveNoThreads) {
  const int threads = world_.is_root() ? 0 : 1;
  const auto stages = run({.items = {0, 1}, .threads = threads});
  EXPECT_EQ(stages.size(), static_cast<std::size_t>(threads));
}

TEST_F(PassTest, OneFailureEndsTheWorkOfAllRanks) {
  const auto endless = [&](PassThread& thread) {
    if (world_.is_last() && thread.number == 1) throw Error("disk on fire", "", "");
    while (!thread.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  try {
    run({.items = {0, 1000}, .threads = 2}, endless);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "disk on fire.");
  }
  EXPECT_TRUE(kept_.empty());
}

}  // namespace
}  // namespace warpfold::pipeline
