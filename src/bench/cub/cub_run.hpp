#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "bench/cub/cub_peers.hpp"
#include "cuda/runtime/device_buffer.hpp"

namespace warpfold::bench {

/// One of CUB's algorithms for arrays of one length, with its scratch memory.
class CubRun {
 public:
  CubRun(CubLaunch launch, std::uint64_t elements, cudaStream_t stream)
      : launch_(launch), elements_(elements), stream_(stream) {
    std::size_t bytes = 0;
    cuda::check(launch_(nullptr, bytes, nullptr, nullptr, elements_, stream_), "preparing CUB");
    scratch_ = std::make_shared<cuda::DeviceBuffer>(bytes);
  }

  void operator()(const void* input, void* output) const {
    std::size_t bytes = scratch_->size();
    cuda::check(launch_(scratch_->data(), bytes, input, output, elements_, stream_),
                "starting CUB");
  }

 private:
  CubLaunch launch_;
  std::uint64_t elements_;
  cudaStream_t stream_;
  std::shared_ptr<cuda::DeviceBuffer> scratch_;
};

}  // namespace warpfold::bench
