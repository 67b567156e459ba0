#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/staging/staging_buffer.hpp"

namespace warpfold::cuda {

/// Device memory through which chunks go to their places: those of one slab at a time, in the order
/// of one stream.
class ChunkLoader {
 public:
  /// For slabs of at most `staging_bytes` in staging memory.
  explicit ChunkLoader(std::uint64_t staging_bytes);

  /// Returns what a staging buffer must hold for slabs of at most so many bytes, and the device
  /// memory that a loader takes, but for a little where a slab has very many chunks.
  static std::uint64_t buffer_bytes(std::uint64_t staging_bytes);

  /// Starts copying the chunks in the buffer, of elements of `element_bytes`, and what describes
  /// them.
  void copy(StagingBuffer& from, const StagedChunks& slab, const BoxIndices& indices,
            std::size_t element_bytes, cudaStream_t stream);

  /// Starts bringing the chunks last copied to their places behind `elements`, aligned to 16 bytes.
  void assemble(const StagedChunks& slab, std::size_t element_bytes, std::byte* elements,
                cudaStream_t stream) const;

  /// Returns the indices last copied, in device memory.
  const BoxIndices* indices() const { return reinterpret_cast<const BoxIndices*>(table_); }

 private:
  DeviceBuffer staged_;
  DeviceBuffer large_table_;
  std::byte* table_ = nullptr;  ///< in one of them
};

}  // namespace warpfold::cuda
