#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/lz4/lz4_block.hpp"

namespace warpfold::cuda::kernels {

/// Records of chunks that can't be decoded, in device memory.
struct Lz4Refusals {
  std::uint32_t* of_chunks;  ///< for each chunk: 1 where it, or a block of it, is not good
  std::uint32_t* chunks;     ///< how many these are, added to what is there
};

/// Chunks to be taken apart into blocks, in device memory.
struct Lz4Chunks {
  const lz4::Chunk* chunks;
  std::uint32_t count;
  lz4::ChunkForm form;
  lz4::Block* blocks;  ///< form.blocks for each chunk
  Lz4Refusals refused;
};

/// Blocks to be decoded together, in device memory.
struct Lz4Blocks {
  const lz4::Block* blocks;  ///< empty ones are left out
  std::uint32_t count;
  std::uint32_t bit_element_bytes;  ///< as a ChunkForm's
  std::uint32_t* next;              ///< a word of scratch memory
  Lz4Refusals refused;
};

/// Has the kernels loaded.
void load_lz4(std::uint32_t bit_element_bytes);

void list_lz4_blocks(const Lz4Chunks& chunks, cudaStream_t stream);
void decode_lz4_blocks(const Lz4Blocks& blocks, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
