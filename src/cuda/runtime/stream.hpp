#pragma once

#include <cuda_runtime_api.h>

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

}  // namespace warpfold::cuda
