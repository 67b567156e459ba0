#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"

namespace warpfold::cuda::kernels {

/// Chunks in device memory on their way to their places.
struct ChunkAssembly {
  ChunkGrid grid;
  ChunkTarget target;
  const StagedChunk* chunks;  ///< in device memory
  std::uint64_t count;
  const std::byte* staged;    ///< origin of the chunks' sources; aligned to 16 bytes
  std::byte* elements;        ///< place 0; aligned to 16 bytes
  std::size_t element_bytes;  ///< 1, 2, 4 or 8
  std::uint64_t fill;         ///< the bits of an element of unwritten chunks
};

/// Has the kernel loaded, which a launch would wait for.
void load_assembly(std::size_t element_bytes);

/// Brings the elements of the chunks that have a place in the target there; all are selected, and
/// the last dimension's stride is 1.
void assemble_chunks(const ChunkAssembly& assembly, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
