#include "pipeline/run/block_flow.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace warpfold::pipeline {
namespace {

using namespace std::chrono_literals;

/// Returns the piece of take() without waiting for others: the flow must have one.
PieceTask taken(BlockFlow& flow) { return flow.take().value(); }

void finish_loading(BlockFlow& flow, std::uint64_t pieces) {
  std::vector<PieceTask> tasks;
  for (std::uint64_t i = 0; i < pieces; ++i) tasks.push_back(taken(flow));
  for (const PieceTask& task : tasks) flow.finish(task);
}

TEST(BlockFlow, ABlockIsLoadedOnceAllItsPiecesAre) {
  BlockFlow flow({{2, 1}}, 1, 2);
  const PieceTask first = taken(flow);
  const PieceTask second = taken(flow);
  EXPECT_FALSE(first.stores);
  EXPECT_EQ(second.piece, 1u);
  flow.finish(second);
  EXPECT_FALSE(flow.wait_until_loaded(0, 0us));
  flow.finish(first);
  EXPECT_TRUE(flow.wait_until_loaded(0, 0us));
}

TEST(BlockFlow, ABlockIsStoredOnceItIsComputed) {
  BlockFlow flow({{1, 2}}, 1, 1);
  finish_loading(flow, 1);
  flow.computed();
  EXPECT_TRUE(taken(flow).stores);
  EXPECT_EQ(taken(flow).piece, 1u);
  EXPECT_FALSE(flow.take().has_value());
}

TEST(BlockFlow, BothWaysShareTheThreads) {
  BlockFlow flow({{1, 4}, {4, 1}}, 2, 8);
  finish_loading(flow, 1);
  flow.computed();
  int storing = 0;
  for (int i = 0; i < 4; ++i) storing += taken(flow).stores ? 1 : 0;
  EXPECT_EQ(storing, 2);
}

TEST(BlockFlow, ABlockIsLoadedAgainOnceItIsStored) {
  BlockFlow flow({{1, 1}, {1, 1}}, 1, 1);
  finish_loading(flow, 1);
  flow.computed();
  const PieceTask store = taken(flow);
  std::jthread storing([&] {
    std::this_thread::sleep_for(1ms);
    flow.finish(store);
  });
  const PieceTask load = taken(flow);
  EXPECT_FALSE(load.stores);
  EXPECT_EQ(load.block, 1u);
}

TEST(BlockFlow, NoMoreThreadsLoadThanAreAllowed) {
  BlockFlow flow({{8, 0}}, 1, 1);
  const PieceTask first = taken(flow);
  std::atomic<bool> finished = false;
  std::jthread loading([&] {
    std::this_thread::sleep_for(1ms);
    finished = true;
    flow.finish(first);
  });
  EXPECT_EQ(taken(flow).piece, 1u);
  EXPECT_TRUE(finished);
}

TEST(BlockFlow, ABlockIsLoadedOnceItIsSupplied) {
  BlockFlow flow({{1, 0}, {1, 0}}, 2, 2, 1);
  EXPECT_EQ(taken(flow).block, 0u);
  std::jthread supplying([&] {
    std::this_thread::sleep_for(1ms);
    flow.supply(2);
  });
  EXPECT_EQ(taken(flow).block, 1u);
}

TEST(BlockFlow, EmptyBlocksNeedNoPieces) {
  BlockFlow flow({{1, 1}, {0, 0}}, 1, 1);
  finish_loading(flow, 1);
  flow.computed();
  flow.finish(taken(flow));
  EXPECT_TRUE(flow.wait_until_loaded(1, 0us));
  EXPECT_FALSE(flow.take().has_value());
}

TEST(BlockFlow, StopWakesWhoeverWaits) {
  BlockFlow flow({{1, 1}}, 1, 1);
  finish_loading(flow, 1);
  std::jthread stopping([&] {
    std::this_thread::sleep_for(1ms);
    flow.stop();
  });
  EXPECT_FALSE(flow.take().has_value());
  EXPECT_TRUE(flow.stopped());
}

TEST(BlockFlow, ThreadsDoEachPieceOnce) {
  const std::vector<PieceCounts> blocks(50, {7, 5});
  BlockFlow flow(blocks, 3, 4);
  std::atomic<int> loaded = 0;
  std::atomic<int> stored = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        while (const auto task = flow.take()) {
          ++(task->stores ? stored : loaded);
          flow.finish(*task);
        }
      });
    for (std::uint64_t block = 0; block < blocks.size(); ++block) {
      while (!flow.wait_until_loaded(block, 1s)) {
      }
      flow.computed();
    }
  }
  EXPECT_EQ(loaded, 350);
  EXPECT_EQ(stored, 250);
}

}  // namespace
}  // namespace warpfold::pipeline
