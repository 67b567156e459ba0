#include "pipeline/collective.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "pipeline/rounds.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

TEST(RunOnRoot, RunsOnceAndItsErrorReachesEveryRank) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  int runs = 0;
  run_on_root(communicator, [&] { ++runs; });
  EXPECT_EQ(runs, communicator.is_root() ? 1 : 0);
  EXPECT_THROW(run_on_root(communicator, [] { throw Error("no", "", ""); }), Error);
}

TEST(RunOnAll, OneRanksErrorReachesEveryRank) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  EXPECT_THROW(run_on_all(communicator,
                          [&] {
                            if (communicator.is_last()) throw Error("no", "", "");
                          }),
               Error);
}

TEST(InRounds, RanksOfDifferentLengthsAllFinish) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  const auto mine = static_cast<std::uint64_t>(10 * communicator.rank());
  const auto most = static_cast<std::uint64_t>(10 * communicator.size());
  std::uint64_t steps = 0;
  in_rounds(communicator, most, [&] {
    if (steps == mine) return false;
    ++steps;
    return true;
  });
  EXPECT_EQ(steps, mine);
}

TEST(InRounds, OneRanksFailureEndsAllOfThemSoon) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  constexpr std::uint64_t most = 100000;
  std::uint64_t steps = 0;
  const auto step = [&] {
    if (communicator.is_last() && steps == 13) throw Error("disk on fire", "", "");
    return ++steps < most;
  };
  try {
    in_rounds(communicator, most, step);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "disk on fire");
  }
  EXPECT_LT(steps, std::uint64_t{64});
}

}  // namespace
}  // namespace warpfold::pipeline
