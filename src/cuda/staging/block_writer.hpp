#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/runtime/stream.hpp"
#include "cuda/staging/staging_buffer.hpp"

namespace warpfold::cuda {

/// The way of pieces from blocks to one of the threads that write them.
class BlockWriter {
 public:
  /// Takes pieces of at most so many bytes.
  BlockWriter(std::uint64_t bytes, const TimedEvent& time_origin) : buffer_(bytes, time_origin) {}

  /// Host memory that holds the bytes, once what the stream held before is done; until the next
  /// call.
  std::span<const std::byte> fetch(const void* from, std::uint64_t bytes) {
    const std::span<std::byte> memory = buffer_.memory();
    buffer_.begin_copy(stream());
    copy_to_host(memory.data(), from, bytes, stream());
    buffer_.end_copy(stream(), bytes);
    buffer_.wait();
    return memory.first(bytes);
  }

  cudaStream_t stream() const { return stream_.get(); }
  SpanTimer& copies() { return buffer_.copies(); }

 private:
  StagingBuffer buffer_;
  Stream stream_;
};

}  // namespace warpfold::cuda
