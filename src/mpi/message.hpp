#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// Sends bytes of any number with a label of the caller's to rank `to`, which receives messages in
/// the order in which they are sent.
void send(std::uint64_t label, std::span<const std::byte> bytes, const Communicator& communicator,
          int to);

/// Receives a message from rank `from` into `bytes`; returns its label.
std::uint64_t receive(std::vector<std::byte>& bytes, const Communicator& communicator, int from);

}  // namespace warpfold::mpi
