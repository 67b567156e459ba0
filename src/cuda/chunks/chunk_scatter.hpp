#pragma once

#include <cuda_runtime_api.h>

#include "cuda/chunks/chunk_assembly.hpp"

namespace warpfold::cuda::kernels {

/// Has the kernel loaded, which a launch would wait for.
void load_scatter(std::size_t element_bytes);

/// Does what assemble_chunks() does, whatever is selected and whatever the strides: what lies
/// together in chunks may go far apart.
void scatter_chunks(const ChunkAssembly& assembly, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
