#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/staging_plan.hpp"

namespace warpfold::cuda {

/// Decompresses some chunks in device memory at a time, in the order of one stream.
class ChunkDecompressor {
 public:
  virtual ~ChunkDecompressor() = default;

  /// Adds a chunk of so many compressed bytes, which will be at `stored` when the work starts; it
  /// is to come to `out`, aligned to 16 bytes.
  virtual void add(const std::byte* stored, std::uint32_t bytes, std::byte* out) = 0;

  /// Starts on the chunks added. `in_flight` is how many there are with those of others.
  virtual void start(std::uint64_t in_flight, cudaStream_t stream) = 0;

  /// Waits until they are done; returns which of them, in the order they were added, can't be
  /// decompressed here.
  virtual std::vector<std::size_t> refused(cudaStream_t stream) = 0;

  virtual void clear() = 0;
};

/// Makes one of at most so many chunks. Has its kernels loaded.
std::unique_ptr<ChunkDecompressor> make_decompressor(const CompressedForm& form,
                                                     std::uint64_t chunks);

/// Returns the device memory that it takes.
std::uint64_t decompressor_bytes(const CompressedForm& form, std::uint64_t chunks);

}  // namespace warpfold::cuda
