#include "pipeline/channel.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace warpfold::pipeline {
namespace {

TEST(Channel, KeepsTheOrderOfItems) {
  Channel<int> channel;
  channel.push(1);
  channel.push(2);
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.pop(), 2);
}

TEST(Channel, WhatIsInAClosedChannelStillArrives) {
  Channel<int> channel;
  channel.push(1);
  channel.close();
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, CancelDropsWhatIsIn) {
  Channel<int> channel;
  channel.push(1);
  channel.cancel();
  EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, WaitersWakeForItemsAndForTheEnd) {
  Channel<int> channel;
  int sum = 0;
  std::jthread consumer([&] {
    while (const std::optional<int> item = channel.pop()) sum += *item;
  });
  for (int item = 1; item <= 1000; ++item) channel.push(item);
  channel.close();
  consumer.join();
  EXPECT_EQ(sum, 500500);
}

}  // namespace
}  // namespace warpfold::pipeline
