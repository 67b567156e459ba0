#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Takes a message, which is there until it returns; must not throw.
using TakeMessage = std::function<void(std::span<const std::byte> message)>;

/// Sends messages of at most `max_bytes` bytes, `messages[r]` to rank r, and hands those of other
/// ranks to `take`, one at a time. Collective.
void exchange(std::span<const std::vector<std::span<const std::byte>>> messages,
              std::size_t max_bytes, const TakeMessage& take, const Communicator& communicator);

}  // namespace warpfold::mpi
