#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

/// Returns once everything put into the stream is done; throws what went wrong with it.
inline void synchronize(cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "work on the GPU");
}

/// Owns a stream of the device that was current when it was made; ends with the stream's work, so
/// that memory declared before a stream outlives what the stream does to it.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a CUDA stream");
  }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

  void synchronize() const { cuda::synchronize(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Owns an event, without timing, of the device that was current when it was made.
class Event {
 public:
  Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating a CUDA event");
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) {
    check(cudaEventRecord(event_, stream), "recording a CUDA event");
  }

  cudaEvent_t get() const { return event_; }

  /// What is put into `stream` later waits for what the event was recorded behind.
  void delay(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "ordering work on the GPU");
  }

  /// Returns once what the event was recorded behind is done; at once where it never was recorded.
  void wait() const { check(cudaEventSynchronize(event_), "work on the GPU"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Owns an event that takes the time, of the device that was current when it was made.
class TimedEvent {
 public:
  TimedEvent() { check(cudaEventCreate(&event_), "creating a CUDA event"); }
  ~TimedEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  TimedEvent(TimedEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  TimedEvent& operator=(TimedEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  void record(cudaStream_t stream) {
    check(cudaEventRecord(event_, stream), "recording a CUDA event");
  }

  /// Returns once what the event was recorded behind is done; at once where it never was recorded.
  void wait() const { check(cudaEventSynchronize(event_), "work on the GPU"); }

  /// Both must be done.
  double seconds_since(const TimedEvent& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "timing GPU work");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace warpfold::cuda
