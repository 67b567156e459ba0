#include "mpi/message.hpp"

#include <algorithm>
#include <array>

namespace warpfold::mpi {
namespace {

/// Well within what an int counts.
constexpr std::size_t max_piece_bytes = std::size_t{1} << 30;

/// Messages to a rank that are under way at once.
constexpr std::size_t max_sends = 64;

using Head = std::array<std::uint64_t, 2>;  ///< label, bytes

/// Calls body(first byte, bytes) for the pieces of a message.
template <class Body>
void for_each_piece(std::size_t bytes, Body&& body) {
  for (std::size_t first = 0; first < bytes; first += max_piece_bytes) {
    body(first, static_cast<int>(std::min(max_piece_bytes, bytes - first)));
  }
}

/// Receives a message that fits into `bytes`; returns its size.
std::size_t receive_within(std::span<std::byte> bytes, const Communicator& communicator, int from) {
  MPI_Status status;
  int count = 0;
  check(MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag::bytes,
                 communicator.get(), &status),
        "MPI_Recv");
  check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  return static_cast<std::size_t>(count);
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

void exchange(std::span<const std::vector<std::span<const std::byte>>> messages,
              std::size_t max_bytes, const TakeMessage& take, const Communicator& communicator) {
  if (communicator.is_alone()) return;
  const auto ranks = static_cast<std::size_t>(communicator.size());
  const auto own = static_cast<std::size_t>(communicator.rank());
  std::vector<std::uint64_t> sent;
  for (const auto& each : messages) sent.push_back(each.size());
  std::vector<std::uint64_t> arriving(ranks);
  check(MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, arriving.data(), 1, MPI_UINT64_T,
                     communicator.get()),
        "MPI_Alltoall");
  std::vector<std::byte> bytes(max_bytes);
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t to = (own + step) % ranks;
    const std::size_t from = (own + ranks - step) % ranks;
    for (std::size_t first = 0; first < std::max(sent[to], arriving[from]); first += max_sends) {
      std::vector<MPI_Request> sends;
      for (std::size_t i = first; i < std::min(first + max_sends, sent[to]); ++i)
        check(
            MPI_Isend(messages[to][i].data(), static_cast<int>(messages[to][i].size()), MPI_BYTE,
                      static_cast<int>(to), tag::bytes, communicator.get(), &sends.emplace_back()),
            "MPI_Isend");
      for (std::size_t i = first; i < std::min(first + max_sends, arriving[from]); ++i)
        take(std::span(bytes).first(receive_within(bytes, communicator, static_cast<int>(from))));
      check(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
    }
  }
}

}  // namespace warpfold::mpi
