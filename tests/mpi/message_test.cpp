#include "mpi/message.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace warpfold::mpi
