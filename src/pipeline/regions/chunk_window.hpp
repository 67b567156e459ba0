#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "io/chunks/chunk_encoder.hpp"

namespace warpfold::pipeline {

/// Encoded chunks on their way from the threads that make them, in any order, to one thread that
/// takes them in order. Holds a bounded number.
class ChunkWindow {
 public:
  /// Lets through chunks 0..chunks-1, at most `slots` (1 or more) of them at once.
  ChunkWindow(std::uint64_t chunks, std::size_t slots);

  /// The next chunk to make, once there is room for it; none when all are made or `stop` is asked
  /// for.
  std::optional<std::uint64_t> claim(const std::stop_token& stop);

  /// Keeps a copy of a claimed chunk.
  void put(std::uint64_t number, const io::EncodedChunk& chunk);

  /// The next chunk in order, waited for as long as `patience`; valid until release().
  std::optional<io::EncodedChunk> take(std::chrono::milliseconds patience);

  /// Gives room for another chunk in place of the one last taken.
  void release();

 private:
  struct Slot {
    std::vector<std::byte> bytes;
    std::uint32_t skipped_filters = 0;
    bool full = false;
  };

  Slot& slot_of(std::uint64_t number) { return slots_[number % slots_.size()]; }

  std::uint64_t chunks_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable made_;
  std::uint64_t claimed_ = 0;
  std::uint64_t released_ = 0;
};

}  // namespace warpfold::pipeline
