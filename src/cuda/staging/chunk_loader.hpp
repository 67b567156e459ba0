#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/staging_plan.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/chunks/chunk_assembly.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/chunk_decompressor.hpp"
#include "cuda/staging/staging_buffer.hpp"

namespace warpfold::cuda {

/// Capacity of a ChunkLoader.
struct LoaderSize {
  std::uint64_t staging_bytes = 0;  ///< the most of a slab in staging memory
  std::uint64_t slabs = 1;
  std::uint64_t slab_chunks = 0;  ///< the most of a slab, where more than usual
  std::uint64_t compressed = 0;   ///< chunks
  CompressedForm form = {};       ///< form of the compressed chunks
};

/// Device memory through which chunks go to their places: those of some slabs at a time, in the
/// order of one stream.
class ChunkLoader {
 public:
  explicit ChunkLoader(const LoaderSize& size);

  /// Returns what a staging buffer must hold for slabs of at most so many bytes and chunks.
  static std::uint64_t buffer_bytes(std::uint64_t staging_bytes, std::uint64_t slab_chunks = 0);

  /// Returns the device memory that a loader takes, but for a little where a slab has very many
  /// chunks.
  static std::uint64_t device_bytes(const LoaderSize& size);

  /// Has the kernels loaded that assemble elements.
  static void load_kernels(std::size_t element_bytes);

  void clear();

  /// Returns whether there is room for one more slab, as large as planned.
  bool has_room() const { return slabs_.size() < size_.slabs; }

  /// Adds a slab: starts copying its chunks in the buffer, of elements of `element_bytes`, and what
  /// describes them.
  void copy(StagingBuffer& from, const StagedChunks& slab, std::size_t element_bytes,
            cudaStream_t stream);

  std::size_t slabs() const { return slabs_.size(); }

  /// Counts the compressed chunks of all slabs.
  std::size_t compressed() const { return compressed_.size(); }

  /// Returns what comes of them.
  std::uint64_t decompressed_bytes() const { return compressed_.size() * size_.form.chunk_bytes; }

  /// Starts decompressing them. `in_flight` is how many there are with those of other loaders.
  void start_decompressing(std::uint64_t in_flight, cudaStream_t stream);

  /// Returns whether they are decompressed, or refused.
  bool is_decompressed() const { return decompressed_.is_done(); }

  /// Waits until they are decompressed; decodes those that the GPU refuses as the plan says.
  void finish_decompressing(const CompressedChunks& plan, cudaStream_t stream);

  /// Starts bringing a slab's chunks to their places behind `elements`, aligned to 16 bytes.
  void assemble(std::size_t slab, std::byte* elements, cudaStream_t stream) const;

  /// Returns the indices that extrema of a slab get, in device memory.
  const BoxIndices* indices(std::size_t slab = 0) const { return slabs_[slab].indices; }

 private:
  struct Slab {
    kernels::ChunkAssembly assembly;  ///< but for the elements
    const BoxIndices* indices;
  };
  /// Parts of its device memory.
  struct Parts {
    std::byte* staged;
    std::byte* decompressed;
  };

  static Parts cut(Scratch& memory, const LoaderSize& size);
  std::byte* large_table(std::uint64_t bytes);
  std::byte* place_of(std::size_t compressed) const;
  std::byte* leave_compressed(const StagedChunk& chunk, const std::byte* staged);

  LoaderSize size_;
  DeviceBuffer memory_;
  Parts parts_;
  std::vector<DeviceBuffer> large_tables_;
  std::size_t large_tables_used_ = 0;
  std::uint64_t used_ = 0;  ///< bytes staged
  std::vector<Slab> slabs_;
  std::vector<std::uint64_t> compressed_;            ///< chunks, by their numbers in the grid
  std::unique_ptr<ChunkDecompressor> decompressor_;  ///< if chunks may be compressed
  SleepingEvent decompressed_;
};

}  // namespace warpfold::cuda
