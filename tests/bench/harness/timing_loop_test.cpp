#include "bench/harness/timing_loop.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace warpfold::bench {
namespace {

/// Times that tell who ran as which launch: candidate number * 100 + launch.
struct FakeTimer {
  std::vector<std::vector<std::string>> rounds;
  std::vector<std::uint64_t> launches;

  std::vector<double> operator()(std::span<Candidate* const> in_turn, std::uint64_t launch) {
    launches.push_back(launch);
    rounds.emplace_back();
    std::vector<double> seconds;
    for (const Candidate* candidate : in_turn) {
      rounds.back().push_back(candidate->row.kernel);
      seconds.push_back(static_cast<double>(rounds.size()) *
                        (candidate->row.kernel == "b" ? 10 : 1));
    }
    return seconds;
  }
};

std::vector<Candidate> three() { return {{{.kernel = "a"}}, {{.kernel = "b"}}, {{.kernel = "c"}}}; }

TEST(TimingLoop, GivesEachCandidateItsOwnTimesOfMeasuredRounds) {
  FakeTimer timer;
  const std::vector<Row> rows = measure(three(), {.warm_up = 2, .measured = 3}, std::ref(timer));
  EXPECT_EQ(timer.rounds.size(), 5u);
  for (const Row& row : rows) {
    const double unit = row.kernel == "b" ? 10 : 1;
    EXPECT_EQ(row.seconds->minimum, 3 * unit) << row.kernel;
    EXPECT_EQ(row.seconds->median, 4 * unit) << row.kernel;
    EXPECT_EQ(row.seconds->maximum, 5 * unit) << row.kernel;
  }
}

TEST(TimingLoop, StartsInTheOrderGivenAndChangesIt) {
  FakeTimer timer;
  measure(three(), {.warm_up = 1, .measured = 100}, std::ref(timer));
  EXPECT_EQ(timer.rounds.front(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(std::set(timer.rounds.begin(), timer.rounds.end()).size(), 6u);
}

TEST(TimingLoop, NumbersLaunchesFromRoundToRound) {
  FakeTimer timer;
  measure(three(), {.warm_up = 1, .measured = 2}, std::ref(timer));
  EXPECT_EQ(timer.launches, (std::vector<std::uint64_t>{0, 3, 6}));
}

TEST(TimingLoop, RunsNothingWhereNothingCanRun) {
  FakeTimer timer;
  const std::vector<Row> rows = measure({{{.note = "not here"}}}, {}, std::ref(timer));
  EXPECT_TRUE(timer.rounds.empty());
  EXPECT_EQ(rows.front().note, "not here");
  EXPECT_FALSE(rows.front().seconds);
}

TEST(HostTimes, GoFromLaunchToLaunch) {
  std::vector<std::uint64_t> launches;
  const auto run = [&](std::uint64_t launch) { launches.push_back(launch); };
  const std::vector<Row> rows =
      measure({{{}, run}, {{}, run}}, {.warm_up = 1, .measured = 2}, time_on_host);
  EXPECT_EQ(launches, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_GE(rows.front().seconds->minimum, 0.0);
}

}  // namespace
}  // namespace warpfold::bench
