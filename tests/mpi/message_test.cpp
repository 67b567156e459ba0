#include "mpi/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "mpi/numbers_of_ranks.hpp"

namespace warpfold::mpi {
namespace {

std::vector<std::byte> bytes_of_rank(int rank, std::size_t count) {
  return std::vector<std::byte>(count, static_cast<std::byte>(rank));
}

TEST(Message, RootReceivesEveryRanksInOrder) {
  const Communicator communicator(MPI_COMM_WORLD);
  constexpr std::size_t sizes[] = {0, 1, 1'000'000};
  if (!communicator.is_root()) {
    for (const std::size_t size : sizes)
      send(size + 7, bytes_of_rank(communicator.rank(), size), communicator, 0);
    return;
  }
  std::vector<std::byte> received(3);
  for (int rank = communicator.size() - 1; rank > 0; --rank) {
    for (const std::size_t size : sizes) {
      EXPECT_EQ(receive(received, communicator, rank), size + 7);
      EXPECT_EQ(received, bytes_of_rank(rank, size));
    }
  }
}

TEST(Message, EveryPairOfRanksExchangesItsOwnNumberOfThem) {
  constexpr std::size_t max_bytes = 100'000;
  const auto count_of = [](int from, int to) { return (3 * from + to) % 5 * 20; };
  const auto bytes_of = [](int from, int to, int i) {
    return std::vector<std::byte>(1 + (max_bytes - 1) * static_cast<std::size_t>(i % 2),
                                  static_cast<std::byte>(31 * from + 7 * to + i));
  };
  for_each_number_of_ranks([&](const Communicator& communicator) {
    const int own = communicator.rank();
    std::vector<std::vector<std::vector<std::byte>>> sent(
        static_cast<std::size_t>(communicator.size()));
    std::vector<std::vector<std::span<const std::byte>>> messages(sent.size());
    std::vector<std::vector<std::byte>> expected;
    for (int rank = 0; rank < communicator.size(); ++rank) {
      if (rank == own) continue;
      const auto at = static_cast<std::size_t>(rank);
      for (int i = 0; i < count_of(own, rank); ++i) sent[at].push_back(bytes_of(own, rank, i));
      messages[at].assign(sent[at].begin(), sent[at].end());
      for (int i = 0; i < count_of(rank, own); ++i) expected.push_back(bytes_of(rank, own, i));
    }
    std::vector<std::vector<std::byte>> taken;
    exchange(
        messages, max_bytes,
        [&](std::span<const std::byte> message) {
          taken.emplace_back(message.begin(), message.end());
        },
        communicator);
    std::ranges::sort(expected);
    std::ranges::sort(taken);
    EXPECT_EQ(taken, expected);
  });
}

}  // namespace
}  // namespace warpfold::mpi
