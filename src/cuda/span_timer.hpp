#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "cuda/timed_event.hpp"

namespace warpfold::cuda {

/// From when to when a stream was busy with something, in seconds since an event that all timers
/// share.
struct Span {
  double begin;
  double end;
};

/// Records the event that timers count from, and waits until it is done.
void start_timing(TimedEvent& epoch);

/// Measures spans of a stream, one at a time. One thread at a time.
class SpanTimer {
 public:
  /// `epoch` must be done; it outlives the timer.
  explicit SpanTimer(const TimedEvent& epoch) : epoch_(epoch) {}

  /// May wait for the end of the span before.
  void begin(cudaStream_t stream);
  void end(cudaStream_t stream, std::uint64_t bytes);

  /// Returns once the last span is over; at once where there was none.
  void wait() const { end_.wait(); }

  /// Waits for the last span.
  const std::vector<Span>& spans();

  std::uint64_t bytes() const { return bytes_; }

 private:
  void collect();

  const TimedEvent& epoch_;
  TimedEvent begin_;
  TimedEvent end_;
  TimedEvent last_end_;  ///< of the span before, from which the next is counted: times stay small
  bool pending_ = false;
  std::uint64_t bytes_ = 0;
  std::vector<Span> spans_;
};

/// What several timers saw of a stage: seconds in which any of them was busy.
EngineTiming timing_of(std::string stage, const std::vector<SpanTimer*>& timers);

}  // namespace warpfold::cuda
