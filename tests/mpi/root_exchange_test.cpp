#include "mpi/root_exchange.hpp"

#include <gtest/gtest.h>

namespace warpfold::mpi {
namespace {

std::size_t count_of(int rank, int exchange) {
  return static_cast<std::size_t>(rank) * 1000 + static_cast<std::size_t>(exchange);
}

TEST(RootExchange, EveryRankGetsItsAnswersInOrder) {
  const Communicator communicator(MPI_COMM_WORLD);
  const int ranks = communicator.size();
  RootExchange exchange(communicator);
  for (int number = 0; number < 20; ++number) {
    std::vector<std::size_t> counts;
    for (int rank = 0; rank < ranks; ++rank) counts.push_back(count_of(rank, number));
    const std::size_t mine = count_of(communicator.rank(), number);
    exchange.start(RootExchange::Numbers(mine, mine), counts);
    EXPECT_TRUE(exchange.under_way());
    int answers = 0;
    while (!exchange.done([&](std::vector<RootExchange::Numbers>& of_ranks) {
      ++answers;
      ASSERT_EQ(of_ranks.size(), static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) {
        const std::size_t theirs = count_of(rank, number);
        auto& numbers = of_ranks[static_cast<std::size_t>(rank)];
        EXPECT_EQ(numbers, RootExchange::Numbers(theirs, theirs));
        for (std::uint64_t& each : numbers) each = 3 * theirs;
      }
    }))
      continue;
    EXPECT_FALSE(exchange.under_way());
    EXPECT_EQ(answers, communicator.is_root() ? 1 : 0);
    EXPECT_EQ(exchange.answer(), RootExchange::Numbers(mine, 3 * mine));
  }
}

TEST(RootExchange, WhatIsUnderWayIsWaitedFor) {
  const Communicator communicator(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::size_t>(communicator.size());
  RootExchange exchange(communicator);
  exchange.start({1, 2, 3}, std::vector<std::size_t>(ranks, 3));
  while (!exchange.done([](std::vector<RootExchange::Numbers>&) {})) continue;
}

}  // namespace
}  // namespace warpfold::mpi
