#pragma once

#include <cuda_runtime_api.h>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

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

}  // namespace warpfold::cuda
