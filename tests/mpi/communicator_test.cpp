#include "mpi/communicator.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mpi/host_counters.hpp"

namespace warpfold::mpi {
namespace {

TEST(Communicator, HasTheRanksOfItsParent) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Communicator communicator(MPI_COMM_WORLD);
  EXPECT_EQ(communicator.rank(), rank);
  EXPECT_EQ(communicator.size(), size);
  EXPECT_EQ(communicator.is_root(), rank == 0);
  EXPECT_EQ(communicator.is_last(), rank == size - 1);
  EXPECT_NE(communicator.get(), MPI_COMM_WORLD);
}

TEST(Communicator, FindsAllRanksOfOneHost) {
  const Communicator communicator(MPI_COMM_WORLD);
  EXPECT_EQ(communicator.on_this_host().size(), communicator.size());
  EXPECT_EQ(count_hosts(communicator), 1);
}

TEST(Communicator, BroadcastsTextWithZerosAndNothingAtAll) {
  const Communicator communicator(MPI_COMM_WORLD);
  const std::string text("a\0b\n", 4);
  EXPECT_EQ(broadcast(communicator.is_root() ? text : "other", communicator), text);
  EXPECT_EQ(broadcast(std::string(), communicator), "");
  EXPECT_TRUE(broadcast(std::vector<std::uint64_t>(), communicator).empty());
  const int last = communicator.size() - 1;
  EXPECT_EQ(broadcast(communicator.is_last() ? text : "", communicator, last), text);
}

TEST(Communicator, BroadcastsNumbersBeyondThirtyTwoBits) {
  const Communicator communicator(MPI_COMM_WORLD);
  const std::uint64_t value = (std::uint64_t{1} << 63) + 5;
  EXPECT_EQ(broadcast(communicator.is_last() ? value : 0, communicator, communicator.size() - 1),
            value);
}

TEST(Communicator, GathersTextsOfDifferentLengthsByRank) {
  const Communicator communicator(MPI_COMM_WORLD);
  const auto length = static_cast<std::size_t>(communicator.rank());
  const auto texts = gather_everywhere(std::string(length, 'x'), communicator);
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(communicator.size()));
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    EXPECT_EQ(texts[rank], std::string(rank, 'x'));
}

TEST(Communicator, ComparesElementByElement) {
  const Communicator communicator(MPI_COMM_WORLD);
  const auto rank = static_cast<std::uint64_t>(communicator.rank());
  const auto last = static_cast<std::uint64_t>(communicator.size() - 1);
  const std::vector<std::uint64_t> expected = {0, ~last};
  EXPECT_EQ(minimum({rank, ~rank}, communicator), expected);
  const std::vector<double> largest = {static_cast<double>(last), 0.0};
  EXPECT_EQ(maximum({static_cast<double>(rank), -static_cast<double>(rank)}, communicator),
            largest);
}

TEST(HostCounters, AreChangedByAllRanksOfAHost) {
  constexpr std::uint64_t additions = 1000;
  const Communicator communicator(MPI_COMM_WORLD);
  const HostCounters counters(communicator);
  std::vector<int> all(static_cast<std::size_t>(communicator.size()));
  std::iota(all.begin(), all.end(), 0);
  ASSERT_EQ(counters.ranks(), all);
  for (std::uint64_t i = 0; i < additions; ++i)
    for (std::size_t place = 0; place < all.size(); ++place) ++counters.at(place);
  counters.meet();
  for (std::size_t place = 0; place < all.size(); ++place)
    EXPECT_EQ(counters.at(place).load(), additions * all.size());
}

}  // namespace
}  // namespace warpfold::mpi
