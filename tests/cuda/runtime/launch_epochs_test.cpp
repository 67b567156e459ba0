#include "cuda/runtime/launch_epochs.hpp"

#include <gtest/gtest.h>

namespace warpfold::cuda {
namespace {

TEST(LaunchEpochs, FollowOneAnotherAfterTheWorkspaceWasCleared) {
  LaunchEpochs epochs;
  const auto first = epochs.take(3);
  EXPECT_EQ(first.first, 1u);
  EXPECT_TRUE(first.over_again);
  const auto second = epochs.take(1);
  EXPECT_EQ(second.first, 4u);
  EXPECT_FALSE(second.over_again);
  EXPECT_EQ(epochs.take(1).first, 5u);
}

TEST(LaunchEpochs, BeginOverAgainWhereTheyWouldPassTheLast) {
  LaunchEpochs epochs;
  epochs.take(LaunchEpochs::last - 2);
  const auto last = epochs.take(2);
  EXPECT_EQ(last.first, LaunchEpochs::last - 1);
  EXPECT_FALSE(last.over_again);
  const auto next = epochs.take(1);
  EXPECT_EQ(next.first, 1u);
  EXPECT_TRUE(next.over_again);

  LaunchEpochs nearly;
  nearly.take(LaunchEpochs::last - 2);
  const auto too_many = nearly.take(3);
  EXPECT_EQ(too_many.first, 1u);
  EXPECT_TRUE(too_many.over_again);
}

}  // namespace
}  // namespace warpfold::cuda
