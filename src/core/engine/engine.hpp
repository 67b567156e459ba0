#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "warpfold/core/stage_timing.hpp"

namespace warpfold {

/// Memory that an engine lends a thread until it is submitted.
struct Ticket {
  std::span<std::byte> memory;  ///< suited to the device's transfers
  int thread = 0;               ///< thread that took it
  int slot = 0;                 ///< destination of its elements, which the engine alone knows
};

/// Takes elements out of memory that it lends. Threads (numbered from 0) take memory, fill it with
/// chunks and submit these, all at once; a ticket is submitted once, before its thread takes
/// another.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Starts on the elements that the chunks in the ticket's memory bring to places below
  /// `chunks.target.elements`.
  virtual void submit(const Ticket& ticket, const StagedChunks& chunks) = 0;

  /// Returns whether chunks may come compressed, as planned.
  virtual bool decompresses() const { return false; }

  /// Returns the times of the engine's own stages; none where it works in the threads that call it.
  /// Once all of them are done.
  virtual std::vector<StageTiming> timings() const = 0;
};

}  // namespace warpfold
