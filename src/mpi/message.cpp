#include "mpi/message.hpp"

#include <algorithm>
#include <array>

namespace warpfold::mpi {
namespace {

/// Well within what an int counts.
constexpr std::size_t max_piece_bytes = std::size_t{1} << 30;

using Head = std::array<std::uint64_t, 2>;  ///< label, bytes

/// Calls body(first byte, bytes) for the pieces of a message.
template <class Body>
void for_each_piece(std::size_t bytes, Body&& body) {
  for (std::size_t first = 0; first < bytes; first += max_piece_bytes) {
    body(first, static_cast<int>(std::min(max_piece_bytes, bytes - first)));
  }
}

}  // namespace

void send(std::uint64_t label, std::span<const std::byte> bytes, const Communicator& communicator,
          int to) {
  const Head head{label, bytes.size()};
  check(MPI_Send(head.data(), 2, MPI_UINT64_T, to, tag::head, communicator.get()), "MPI_Send");
  for_each_piece(bytes.size(), [&](std::size_t first, int count) {
    check(MPI_Send(bytes.data() + first, count, MPI_BYTE, to, tag::bytes, communicator.get()),
          "MPI_Send");
  });
}

std::uint64_t receive(std::vector<std::byte>& bytes, const Communicator& communicator, int from) {
  Head head{};
  check(MPI_Recv(head.data(), 2, MPI_UINT64_T, from, tag::head, communicator.get(),
                 MPI_STATUS_IGNORE),
        "MPI_Recv");
  bytes.resize(head[1]);
  for_each_piece(bytes.size(), [&](std::size_t first, int count) {
    check(MPI_Recv(bytes.data() + first, count, MPI_BYTE, from, tag::bytes, communicator.get(),
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
  });
  return head[0];
}

}  // namespace warpfold::mpi
