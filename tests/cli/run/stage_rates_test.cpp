#include "cli/run/stage_rates.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace warpfold::cli {
namespace {

constexpr std::uint64_t gb = 1'000'000'000;

RunProgress progress_of_stages(double seconds, std::uint64_t done,
                               std::vector<StageProgress> stages) {
  RunProgress progress;
  progress.seconds = seconds;
  progress.pass = 1;
  progress.pass_seconds = seconds;
  progress.done = done;
  progress.total = 100 * gb;
  progress.stages = std::move(stages);
  return progress;
}

TEST(RatesBetween, AreOfBusyTimeAndOfAllThreads) {
  const RunProgress before = progress_of_stages(10, 20 * gb, {{"read", 4, true, 8, 20 * gb}});
  const RunProgress now =
      progress_of_stages(12, 26 * gb, {{"read", 4, true, 10, 26 * gb}, {"fold", 2, true, 4, gb}});
  const RunRates rates = rates_between(before, now);
  EXPECT_EQ(rates.gigabytes_per_second, 3);
  ASSERT_EQ(rates.stages.size(), 2U);
  EXPECT_EQ(rates.stages[0].stage, "read");
  EXPECT_EQ(rates.stages[0].busy, 0.25);                // 2 of 4 x 2 seconds
  EXPECT_EQ(rates.stages[0].gigabytes_per_second, 12);  // 6 GB in half a second
  EXPECT_EQ(rates.stages[0].bytes, 26 * gb);
  EXPECT_EQ(rates.stages[1].busy, 1);
  EXPECT_EQ(rates.stages[1].gigabytes_per_second, 0.5);
}

TEST(RatesBetween, StagesThatAreOverAreLeftOut) {
  const RunProgress before =
      progress_of_stages(1, gb, {{"read", 2, false, 1, gb}, {"write", 1, true, 1, gb}});
  const RunProgress now =
      progress_of_stages(2, gb, {{"read", 2, false, 1, gb}, {"write", 1, true, 1, gb}});
  const RunRates rates = rates_between(before, now);
  ASSERT_EQ(rates.stages.size(), 1U);
  EXPECT_EQ(rates.stages[0].stage, "write");
  EXPECT_EQ(rates.stages[0].busy, 0);
  EXPECT_FALSE(rates.stages[0].gigabytes_per_second);
  EXPECT_EQ(rates.gigabytes_per_second, 0);
}

TEST(RatesBetween, ANewPassBeginsAnew) {
  const RunProgress before = progress_of_stages(10, 90 * gb, {});
  RunProgress now = progress_of_stages(11, gb, {});
  now.pass = 2;
  now.pass_seconds = 0.5;
  EXPECT_EQ(rates_between(before, now).gigabytes_per_second, 2);
}

TEST(SecondsLeft, AreThoseAtTheRateSoFar) {
  EXPECT_EQ(seconds_left(progress_of_stages(10, 20 * gb, {})), 40);
  EXPECT_EQ(seconds_left(progress_of_stages(10, 100 * gb, {})), 0);
  EXPECT_EQ(seconds_left(progress_of_stages(10, 0, {})), std::nullopt);
  EXPECT_EQ(seconds_left(RunProgress{}), std::nullopt);
}

}  // namespace
}  // namespace warpfold::cli
