#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// Exchanges numbers of all ranks for as many of the root's, one exchange after another and without
/// waiting: start(), then anything else until done(). All ranks start equally many.
class RootExchange {
 public:
  using Numbers = std::vector<std::uint64_t>;

  /// Puts the root's answers in place of what each rank has sent. Called on the root alone.
  using Answer = std::function<void(std::vector<Numbers>& of_ranks)>;

  explicit RootExchange(const Communicator& communicator);
  /// Waits for what is under way.
  ~RootExchange();
  RootExchange(const RootExchange&) = delete;
  RootExchange& operator=(const RootExchange&) = delete;

  /// Begins the next exchange with this rank's numbers. `counts` says how many each rank has: the
  /// root needs all, others none. Not while one is under way.
  void start(Numbers mine, const std::vector<std::size_t>& counts);

  bool under_way() const { return under_way_; }

  /// Returns whether the exchange started last is complete here; doesn't wait, and is what lets it
  /// go on. Calls `answer`, which must not throw, once on the root when all numbers have arrived.
  bool done(const Answer& answer);

  /// Returns the root's answer to this rank, once done().
  const Numbers& answer() const { return of_ranks_[own_]; }

 private:
  bool messages_arrived();
  void begin_to_send();

  const Communicator& communicator_;
  std::size_t own_ = 0;            ///< this rank's place in of_ranks_
  std::vector<Numbers> of_ranks_;  ///< on other ranks than the root, theirs alone
  Numbers sent_;
  std::vector<MPI_Request> requests_;
  bool under_way_ = false;
  bool is_answered_ = false;
};

}  // namespace warpfold::mpi
