#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpfold::bench {

/// Compressed chunks in the memory of the GPU that is current now.
class GpuInflate {
 public:
  virtual ~GpuInflate() = default;

  /// Returns the bytes that run() makes.
  virtual std::uint64_t bytes() const = 0;

  /// Inflates the chunks, all at once, and verifies their checksums. Throws Error for one that the
  /// GPU refuses.
  virtual void run() = 0;
};

/// Takes zlib streams, each of which makes `chunk_bytes`, to the GPU: over and over again until
/// there are `chunks`, or as many as it inflates well at once, or as its memory has room for.
/// Throws Error.
std::unique_ptr<GpuInflate> make_gpu_inflate(const std::vector<std::span<const std::byte>>& streams,
                                             std::uint64_t chunk_bytes, std::uint64_t chunks);

}  // namespace warpfold::bench
