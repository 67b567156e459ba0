#include "mpi/agreement.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/error.hpp"

namespace warpfold::mpi {
namespace {

std::exception_ptr error_of(int rank) {
  return std::make_exception_ptr(Error("problem " + std::to_string(rank), "why", "Do this.",
                                       rank == 0 ? ExitCode::usage : ExitCode::failed));
}

TEST(Settle, ReturnsWhereNoRankFailed) {
  const Communicator communicator(MPI_COMM_WORLD);
  EXPECT_NO_THROW(throw_on_all_ranks(nullptr, communicator));
}

TEST(Settle, EveryRankThrowsTheErrorOfTheLowestFailingRank) {
  const Communicator communicator(MPI_COMM_WORLD);
  for (int lowest = 0; lowest < communicator.size(); ++lowest) {
    try {
      throw_on_all_ranks(communicator.rank() >= lowest ? error_of(communicator.rank()) : nullptr,
                         communicator);
      FAIL() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "problem " + std::to_string(lowest) + ": why. Do this.");
      EXPECT_EQ(error.exit_code(), lowest == 0 ? ExitCode::usage : ExitCode::failed);
    }
  }
}

TEST(Settle, OtherExceptionsBecomeErrors) {
  const Communicator communicator(MPI_COMM_WORLD);
  EXPECT_THROW(throw_on_all_ranks(std::make_exception_ptr(std::bad_alloc()), communicator), Error);
  try {
    throw_on_all_ranks(std::make_exception_ptr(std::runtime_error("odd")), communicator);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.why(), "odd");
  }
}

TEST(Settle, WhatIsNoExceptionBecomesAnErrorToo) {
  const Communicator communicator(MPI_COMM_WORLD);
  const auto failure = communicator.is_last() ? std::make_exception_ptr(42) : nullptr;
  EXPECT_THROW(throw_on_all_ranks(failure, communicator), Error);
}

TEST(FailureWatch, StaysFalseWhereNoRankFails) {
  const Communicator communicator(MPI_COMM_WORLD);
  FailureWatch monitor(communicator);
  for (int round = 0; round < 5; ++round) EXPECT_FALSE(monitor.round(false));
}

TEST(FailureWatch, AllRanksLearnOfOneFailureInTheNextRound) {
  const Communicator communicator(MPI_COMM_WORLD);
  FailureWatch monitor(communicator);
  EXPECT_FALSE(monitor.round(false));
  EXPECT_FALSE(monitor.round(communicator.is_last()));
  EXPECT_TRUE(monitor.round(communicator.is_last()));
}

/// Returns the result of exchanging the ranks' states; rank r has done 10^10 + r bytes.
WorkState exchanged(WorkWatch& monitor, const Communicator& communicator, WorkState mine) {
  constexpr std::uint64_t many = 10'000'000'000;
  std::optional<WorkProgress> whole;
  while (!whole)
    whole = monitor.exchange({mine, many + static_cast<std::uint64_t>(communicator.rank())});
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  EXPECT_EQ(whole->done, ranks * many + ranks * (ranks - 1) / 2);
  return whole->state;
}

TEST(WorkWatch, TheWholeIsDoneOnceEveryRankIs) {
  const Communicator communicator(MPI_COMM_WORLD);
  WorkWatch monitor(communicator);
  const WorkState last = communicator.is_last() ? WorkState::working : WorkState::done;
  EXPECT_EQ(exchanged(monitor, communicator, last), WorkState::working);
  EXPECT_EQ(exchanged(monitor, communicator, WorkState::done), WorkState::done);
}

TEST(WorkWatch, OneFailureIsThatOfTheWhole) {
  const Communicator communicator(MPI_COMM_WORLD);
  WorkWatch monitor(communicator);
  EXPECT_EQ(exchanged(monitor, communicator, WorkState::working), WorkState::working);
  const WorkState last = communicator.is_last() ? WorkState::failed : WorkState::working;
  EXPECT_EQ(exchanged(monitor, communicator, last), WorkState::failed);
}

}  // namespace
}  // namespace warpfold::mpi
