#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace warpfold::pipeline {

/// The pieces of one block that threads are to bring.
struct PieceCounts {
  std::uint64_t to_load = 0;
  std::uint64_t to_store = 0;
};

/// One task of a thread: bring a piece of a block to the engine, or write one to the output.
struct PieceTask {
  bool stores = false;
  std::uint64_t block = 0;
  std::uint64_t piece = 0;  ///< in the block
};

/// Hands the pieces of a rank's blocks to its threads. An engine has places for some blocks, which
/// these take in turns: a block is loaded by any threads, computed by the caller and stored by any
/// threads; then the next one is loaded in its place. Threads may call it at once.
class BlockFlow {
 public:
  /// At most `max_loading` threads load at once, and only the first `supplied` blocks until
  /// supply() says more.
  BlockFlow(const std::vector<PieceCounts>& blocks, int places, int max_loading,
            std::uint64_t supplied = std::numeric_limits<std::uint64_t>::max());

  /// The next piece; waits for one. Nothing once all are handed out, or after stop().
  std::optional<PieceTask> take();
  void finish(const PieceTask& task);

  /// Takes, carries out and finishes pieces until there are no more. Stops the flow where `stop`
  /// asks for it, and where `body` throws, which is thrown on.
  void process_pieces(const std::stop_token& stop,
                      const std::function<void(const PieceTask&)>& body);

  /// Waits until a block is loaded or all is stopped, at most as long as `patience`; returns
  /// whether it is loaded.
  bool wait_until_loaded(std::uint64_t block, std::chrono::microseconds patience);

  /// Lets the first `blocks` blocks be loaded.
  void supply(std::uint64_t blocks);

  /// The next block in order is computed: it can be stored.
  void computed();

  /// No more pieces are handed out.
  void stop();
  bool stopped() const;

 private:
  struct Position {
    std::uint64_t block = 0;
    std::uint64_t piece = 0;
  };

  bool can_load() const;
  bool can_store() const;
  bool all_handed_out() const;
  bool is_free_for(std::uint64_t block) const;
  PieceTask next(Position& at, bool stores);
  void skip_empty(Position& at, bool stores) const;
  std::uint64_t pieces(std::uint64_t block, bool stores) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PieceCounts> pieces_;
  std::vector<PieceCounts> left_;  ///< not yet finished
  std::uint64_t places_;
  int max_loading_;
  std::uint64_t supplied_;
  Position to_load_;
  Position to_store_;
  std::uint64_t computed_ = 0;
  int loading_ = 0;
  int storing_ = 0;
  bool stopped_ = false;
};

}  // namespace warpfold::pipeline
