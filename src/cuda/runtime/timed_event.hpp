#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

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
