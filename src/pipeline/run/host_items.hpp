#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/host_counters.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// Items of a pass, shared by the ranks of a host. A rank without items takes unstarted ones of
/// another rank. No rank waits before the end of the pass.
class HostItems {
 public:
  /// Collective, as is the destructor.
  explicit HostItems(const mpi::Communicator& communicator);

  /// Begins a pass over `items` items, of which each rank has its share_of(), by `threads` threads
  /// of this rank. Collective.
  void begin(std::uint64_t items, int threads);

  struct Item {
    std::uint64_t number;
    ElementRange rest;  ///< items that this rank may still take of the same other rank; else none
  };

  /// Takes the next item; nothing if what other ranks have left is too little to share. Threads may
  /// call it at once.
  std::optional<Item> next();

  /// Returns how many items are left for each of the host's ranks.
  std::uint64_t left() const;

 private:
  std::uint64_t left_of(std::size_t place) const;

  /// Returns the rank that has most items left, by its place, if they are enough to share.
  std::optional<std::size_t> richest() const;

  mpi::HostCounters next_;
  std::size_t mine_ = 0;  ///< this rank's place
  int ranks_;             ///< number of ranks on all hosts
  std::uint64_t threads_ = 0;
  std::vector<ElementRange> shares_;
};

}  // namespace warpfold::pipeline
