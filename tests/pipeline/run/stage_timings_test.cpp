#include "pipeline/run/stage_timings.hpp"

#include <gtest/gtest.h>

namespace warpfold::pipeline {
namespace {

TEST(OverThreads, ThreadsOfAStageAreAveragedAndTheirBytesAdded) {
  const auto stages = over_threads(
      {{"read", 1, 2, 0, 10}, {"fold", 1, 1, 0, 30}, {"read", 1, 4, 0, 20}, {"copy", 1, 9, 0, 1}},
      8);
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].stage, "read");
  EXPECT_EQ(stages[0].threads, 2);
  EXPECT_EQ(stages[0].seconds, 3);
  EXPECT_EQ(stages[0].waiting, 5);
  EXPECT_EQ(stages[0].bytes, 30u);
  EXPECT_EQ(stages[1].stage, "fold");
  EXPECT_EQ(stages[1].waiting, 7);
  EXPECT_EQ(stages[2].waiting, 0);
}

TEST(PutEngineStages, AnEnginesStagesReplaceThoseOfItsCallers) {
  const std::vector<StageTiming> threads{
      {"read", 1, 2, 0, 10}, {"fold", 1, 1, 0, 30}, {"write", 1, 1, 0, 5}, {"fold", 1, 1, 0, 30}};
  auto stages = threads;
  put_engine_stages(stages, "fold", {{"copy to GPU", 1, 3, 0, 60}, {"fold", 1, 4, 0, 60}});
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].stage, "read");
  EXPECT_EQ(stages[1].stage, "copy to GPU");
  EXPECT_EQ(stages[2].stage, "fold");
  EXPECT_EQ(stages[2].seconds, 4);
  EXPECT_EQ(stages[2].bytes, 60u);
  EXPECT_EQ(stages[3].stage, "write");
}

TEST(PutEngineStages, AreItsCallersWhereTheEngineHasNone) {
  std::vector<StageTiming> stages{{"read", 1, 2, 0, 10}, {"fold", 1, 1, 0, 30}};
  put_engine_stages(stages, "fold", {});
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[1].bytes, 30u);
}

TEST(Busiest, EachStageIsThatOfTheRankThatSpentMostTimeInIt) {
  const mpi::Communicator world(MPI_COMM_WORLD);
  const int rank = world.rank();
  const std::uint64_t bytes = 100 + static_cast<std::uint64_t>(rank);
  std::vector<StageTiming> mine{{"read", 1 + rank, 1.0 + rank, 0.5, bytes}};
  if (world.is_last()) mine.push_back({"fold", 1, 3, 0, 7});
  const auto stages = busiest(mine, world);
  const int last = world.size() - 1;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].stage, "read");
  EXPECT_EQ(stages[0].threads, 1 + last);
  EXPECT_EQ(stages[0].seconds, 1.0 + last);
  EXPECT_EQ(stages[0].waiting, 0.5);
  EXPECT_EQ(stages[0].bytes, 100u + static_cast<std::uint64_t>(last));
  EXPECT_EQ(stages[1].stage, "fold");
  EXPECT_EQ(stages[1].bytes, 7u);
}

}  // namespace
}  // namespace warpfold::pipeline
