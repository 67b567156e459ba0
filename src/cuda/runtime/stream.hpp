#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

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

/// Owns an event of the device that was current when it was made.
class Event {
 public:
  Event() : Event(cudaEventDisableTiming) {}

  void record(cudaStream_t stream) {
    check(cudaEventRecord(get(), stream), "recording a CUDA event");
  }

  cudaEvent_t get() const { return event_.get(); }

  /// Makes what is put into `stream` later wait for what the event was recorded behind.
  void delay(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, get(), 0), "ordering work on the GPU");
  }

  /// Returns once what the event was recorded behind is done; at once where it never was recorded.
  void wait() const { check(cudaEventSynchronize(get()), "work on the GPU"); }

  /// Returns whether wait() would return at once.
  bool is_done() const {
    const cudaError_t status = cudaEventQuery(get());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check(status, "work on the GPU");
    return true;
  }

 protected:
  explicit Event(unsigned flags) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, flags), "creating a CUDA event");
    event_.reset(event);
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };

  std::unique_ptr<CUevent_st, Destroy> event_;
};

/// An event for which threads wait asleep.
class SleepingEvent : public Event {
 public:
  SleepingEvent() : Event(cudaEventDisableTiming | cudaEventBlockingSync) {}
};

/// An event that takes the time.
class TimedEvent : public Event {
 public:
  TimedEvent() : Event(cudaEventDefault) {}

  /// Measures the time since another event; both must be done.
  double seconds_since(const TimedEvent& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), get()), "timing GPU work");
    return static_cast<double>(milliseconds) * 1e-3;
  }
};

/// Starts a copy to the device.
inline void copy_to_device(void* device, const void* host, std::uint64_t bytes,
                           cudaStream_t stream) {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "a copy to the GPU");
}

/// Starts a copy to the host, whose memory holds the bytes once the stream is synchronized.
inline void copy_to_host(void* host, const void* device, std::uint64_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream),
        "a copy from the GPU");
}

inline void copy_on_device(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "a copy on the GPU");
}

inline void fill_bytes(void* device, int value, std::uint64_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(device, value, bytes, stream), "filling GPU memory");
}

template <class T>
T downloaded_value(const void* device, cudaStream_t stream) {
  T value;
  copy_to_host(&value, device, sizeof(value), stream);
  synchronize(stream);
  return value;
}

template <class T>
std::vector<T> downloaded_array(const void* device, std::uint64_t elements, cudaStream_t stream) {
  std::vector<T> array(elements);
  copy_to_host(array.data(), device, elements * sizeof(T), stream);
  synchronize(stream);
  return array;
}

}  // namespace warpfold::cuda
