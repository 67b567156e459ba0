#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

/// Page-locked memory that copies to or from the GPU go through, one after the other, timed. One
/// thread at a time.
class StagingBuffer {
 public:
  StagingBuffer(std::uint64_t bytes, const TimedEvent& time_origin)
      : bytes_(bytes), copies_(time_origin) {}

  /// Allocated by the first call: by the thread that works with it, and in its memory.
  std::span<std::byte> memory() {
    if (memory_.size() == 0) memory_ = PinnedBuffer(bytes_);
    return memory_.span();
  }

  /// Page-locked memory for what goes with the next copy. What it held before is lost.
  std::byte* companion(std::uint64_t bytes) {
    if (companion_.size() < bytes) companion_ = PinnedBuffer(2 * bytes);
    return companion_.data();
  }

  void begin_copy(cudaStream_t stream) { copies_.begin(stream); }
  void end_copy(cudaStream_t stream, std::uint64_t bytes) { copies_.end(stream, bytes); }

  /// Returns once the last copy is done.
  void wait() const { copies_.wait(); }

  SpanTimer& copies() { return copies_; }

 private:
  std::uint64_t bytes_;
  PinnedBuffer memory_;
  PinnedBuffer companion_;
  SpanTimer copies_;
};

/// Staging buffers that take turns: one is filled while others are copied.
class StagingBuffers {
 public:
  StagingBuffers(int count, std::uint64_t bytes, const TimedEvent& time_origin) {
    for (int i = 0; i < count; ++i) buffers_.emplace_back(bytes, time_origin);
  }

  /// Returns memory that is free to be filled.
  std::span<std::byte> fill() {
    filled_ = true;
    buffers_[turn_].wait();
    return buffers_[turn_].memory();
  }

  /// Returns what was filled last, to be copied.
  StagingBuffer& take() {
    if (!std::exchange(filled_, false))
      throw Error("a slab was handed over before memory for it was requested", "", "");
    return buffers_[std::exchange(turn_, (turn_ + 1) % buffers_.size())];
  }

  /// Returns the number of the one that is filled, or is to be next.
  int turn() const { return static_cast<int>(turn_); }

  void append_copies(std::vector<SpanTimer*>& timers) {
    for (StagingBuffer& buffer : buffers_) timers.push_back(&buffer.copies());
  }

 private:
  std::deque<StagingBuffer> buffers_;
  std::size_t turn_ = 0;
  bool filled_ = false;
};

}  // namespace warpfold::cuda
