#include "bench/harness/timing_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

class RankTimes : public ::testing::Test {
 protected:
  std::vector<Row> measured(std::vector<Candidate> candidates, const Rounds& rounds) const {
    return measure(std::move(candidates), rounds, timed_on_all_ranks(options_, communicator_));
  }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
  RunOptions options_;
};

void do_nothing(std::uint64_t) {}

TEST_F(RankTimes, AreThoseOfTheSlowestRank) {
  const auto run = [this](std::uint64_t) {
    if (communicator_.is_last()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  const Row row = measured({{{}, run}}, {.warm_up = 0, .measured = 3}).front();
  EXPECT_GE(row.seconds->minimum, 0.003);
  EXPECT_GE(row.seconds->maximum, row.seconds->median);
  std::vector<double> medians{row.seconds->median, -row.seconds->median};
  medians = mpi::maximum(medians, communicator_);
  EXPECT_EQ(medians[0], -medians[1]);
}

TEST_F(RankTimes, OfSamplesAreScaledOnEachRank) {
  const auto run = [](std::uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  const double scale = communicator_.is_last() ? 1000.0 : 1.0;
  const Row row =
      measured({{.row = {}, .run = run, .scale = scale}}, {.warm_up = 0, .measured = 1}).front();
  EXPECT_GE(row.seconds->minimum, 3.0);
}

TEST_F(RankTimes, AreOfAllEquallyOftenInTheSameOrderEverywhere) {
  std::string order;
  std::vector<Candidate> candidates;
  for (const char name : {'a', 'b', 'c'})
    candidates.push_back({{}, [&order, name](std::uint64_t) { order += name; }});
  measured(std::move(candidates), {.warm_up = 3, .measured = 4});
  for (const char each : {'a', 'b', 'c'})
    EXPECT_EQ(std::count(order.begin(), order.end(), each), 7);
  EXPECT_EQ(order.substr(0, 3), "abc");
  for (const std::string& others : mpi::gather_everywhere(order, communicator_))
    EXPECT_EQ(others, order);
}

TEST_F(RankTimes, LeaveOutWhatCannotRun) {
  const std::vector<Row> rows = measured({{{.note = "not here"}}, {{}, do_nothing}}, {});
  EXPECT_FALSE(rows[0].seconds);
  EXPECT_TRUE(rows[1].seconds);
}

TEST_F(RankTimes, LeaveOutWhatComesBeforeAndAfter) {
  std::string calls;
  const std::vector<Row> rows = measured(
      {{.row = {},
        .run = [&](std::uint64_t) { calls += 'r'; },
        .before =
            [&] {
              calls += 'b';
              std::this_thread::sleep_for(std::chrono::milliseconds(300));
            },
        .after =
            [&](Row& row) {
              calls += 'a';
              row.check = calls.size() == 6 ? Check::wrong : std::max(row.check, Check::right);
            }}},
      {.warm_up = 1, .measured = 2});
  EXPECT_EQ(calls, "brabrabra");
  EXPECT_LT(rows[0].seconds->maximum, 0.3);
  EXPECT_EQ(rows[0].check, Check::wrong);
}

TEST_F(RankTimes, EndOnAllRanksWithTheErrorOfOne) {
  int runs = 0;
  const auto fail = [&](std::uint64_t) {
    if (++runs == 2 && communicator_.is_last()) throw Error("the GPU is gone", "", "");
  };
  try {
    measured({{{}, fail}, {{}, do_nothing}}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "the GPU is gone");
  }
  EXPECT_EQ(runs, 2);
}

TEST_F(RankTimes, EndOnAllRanksWhereOneIsInterrupted) {
  const std::atomic<bool> interrupted = communicator_.is_last();
  options_.interrupted = &interrupted;
  EXPECT_THROW(measured({{{}, do_nothing}}, {}), Error);
}

}  // namespace
}  // namespace warpfold::bench
