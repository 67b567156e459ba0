#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace warpfold::pipeline {

/// Of one superstep's block.
struct PieceCounts {
  std::uint64_t to_load = 0;
  std::uint64_t to_store = 0;
};

/// What one thread does at a time: bring a piece of a superstep's block to the engine, or take one
/// from there to the output.
struct PieceTask {
  bool stores = false;
  std::uint64_t superstep = 0;
  std::uint64_t piece = 0;  ///< in the block
};

/// Hands the pieces of a rank's blocks to its threads. Superstep s is in block s % blocks, which is
/// loaded by any threads, scanned by the caller, stored by any threads and then loaded again.
/// Threads may call it at once.
class BlockFlow {
 public:
  /// At most `max_loading` threads load at once.
  BlockFlow(const std::vector<PieceCounts>& supersteps, int blocks, int max_loading);

  /// The next piece; waits for one. Nothing once all are handed out, or after stop().
  std::optional<PieceTask> take();
  void finish(const PieceTask& task);

  /// Takes, carries out and finishes pieces until there are no more. Stops the flow where `stop`
  /// asks for it, and where `body` throws, which is thrown on.
  void carry_out(const std::stop_token& stop, const std::function<void(const PieceTask&)>& body);

  /// Waits until a superstep is loaded or all is stopped, at most as long as `patience`; returns
  /// whether it is loaded.
  bool wait_until_loaded(std::uint64_t superstep, std::chrono::microseconds patience);

  /// The next superstep in order is scanned: its block can be stored.
  void scanned();

  /// No more pieces are handed out.
  void stop();
  bool stopped() const;

 private:
  struct Place {
    std::uint64_t superstep = 0;
    std::uint64_t piece = 0;
  };

  bool can_load() const;
  bool can_store() const;
  bool all_handed_out() const;
  bool is_free_for(std::uint64_t superstep) const;
  PieceTask next(Place& place, bool stores);
  void skip_empty(Place& place, bool stores) const;
  std::uint64_t pieces(std::uint64_t superstep, bool stores) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PieceCounts> pieces_;
  std::vector<PieceCounts> left_;  ///< not yet finished
  std::uint64_t blocks_;
  int max_loading_;
  Place to_load_;
  Place to_store_;
  std::uint64_t scanned_ = 0;
  int loading_ = 0;
  int storing_ = 0;
  bool stopped_ = false;
};

}  // namespace warpfold::pipeline
