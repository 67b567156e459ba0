#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/cuda_error.hpp"

namespace warpfold::bench {

/// Owns an event that takes the time, of the device that was current when it was made.
class TimedEvent {
 public:
  TimedEvent() { cuda::check(cudaEventCreate(&event_), "creating a CUDA event"); }
  ~TimedEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  TimedEvent(TimedEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  TimedEvent& operator=(TimedEvent&&) = delete;

  void record(cudaStream_t stream) {
    cuda::check(cudaEventRecord(event_, stream), "recording a CUDA event");
  }

  /// Both must be done.
  double seconds_since(const TimedEvent& start) const {
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "timing GPU work");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace warpfold::bench
