#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace warpfold::bench {

/// Compressed chunks in the memory of the GPU that is current now.
struct GpuInflate {
  std::uint64_t bytes;  ///< that run() makes

  /// Inflates the chunks, all at once, and verifies their checksums. Throws Error for one that the
  /// GPU refuses.
  std::function<void()> run;
};

/// Takes zlib streams, each of which makes `chunk_bytes`, to the GPU: over and over again until
/// there are `chunks`, or as many as it inflates well at once, or as its memory has room for.
/// Throws Error.
GpuInflate make_gpu_inflate(const std::vector<std::span<const std::byte>>& streams,
                            std::uint64_t chunk_bytes, std::uint64_t chunks);

}  // namespace warpfold::bench
