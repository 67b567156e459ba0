#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/engine/stage_registry.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {

/// From when to when a stream was busy with something, in seconds since an event that all timers
/// share.
struct Span {
  double begin;
  double end;
};

/// Returns an event that is done, for timers to count from.
TimedEvent make_time_origin();

class TimedStage;

/// Measures spans of a stream, one at a time. One thread at a time.
class SpanTimer {
 public:
  /// `time_origin` must be done; it outlives the timer.
  explicit SpanTimer(const TimedEvent& time_origin) : time_origin_(time_origin) {}

  /// May wait for the end of the span before.
  void begin(cudaStream_t stream);
  void end(cudaStream_t stream, std::uint64_t bytes);

  /// Returns once the last span is over; at once where there was none.
  void wait() const { end_.wait(); }

  /// Waits for the last span.
  const std::vector<Span>& spans();

  /// Finished spans are reported to the stage, until it is gone.
  void tell(TimedStage* stage) { stage_ = stage; }

  std::uint64_t bytes() const { return bytes_; }

 private:
  void collect();

  const TimedEvent& time_origin_;
  TimedEvent begin_;
  TimedEvent end_;
  TimedEvent last_end_;  ///< end of the span before; the next span counts from it, so that times
                         ///< stay small
  bool pending_ = false;
  std::uint64_t pending_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  TimedStage* stage_ = nullptr;
  std::vector<Span> spans_;
};

/// A stage that several timers measure, busy where any of them is.
class TimedStage final : public StageRegistry::Source {
 public:
  /// `board` may be null. The timers outlive the stage.
  TimedStage(std::string name, std::vector<SpanTimer*> timers, StageRegistry* registry);
  ~TimedStage() override;

  /// Returns its time, once all threads are done: waits for the last spans.
  StageTiming timing() const;

  /// Returns what the spans that are over took.
  StageProgress progress() const override;

  void add(Span span, std::uint64_t bytes);

 private:
  void count_recent() const;

  std::string name_;
  std::vector<SpanTimer*> timers_;
  mutable std::mutex mutex_;
  mutable std::vector<Span> recent_;  ///< not yet counted in
  mutable double busy_ = 0;
  mutable double busy_to_ = 0;  ///< seconds since the time origin
  std::uint64_t bytes_ = 0;
  StageRegistry::Entry entry_;
};

/// Returns the times of an engine's stages in order.
std::vector<StageTiming> timings_of(const std::vector<std::unique_ptr<TimedStage>>& stages);

}  // namespace warpfold::cuda
