#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/runtime/cuda_error.hpp"

namespace warpfold::cuda {

/// Configuration of a kernel launch: threads, stream and shared memory.
struct Launch {
  std::uint64_t blocks;
  int threads;  ///< threads per block
  cudaStream_t stream;
  std::size_t dynamic_shared_bytes = 0;  ///< bytes per block, as dynamic_shared() returns them

  dim3 grid() const { return dim3(static_cast<unsigned>(blocks)); }
  dim3 block() const { return dim3(static_cast<unsigned>(threads)); }
};

/// Starts a kernel. Where it can't be, throws an Error that says which `action` failed.
template <class... Parameters, class... Arguments>
void launch(const char* action, void (*kernel)(Parameters...), const Launch& by,
            const Arguments&... arguments) {
  kernel<<<by.grid(), by.block(), by.dynamic_shared_bytes, by.stream>>>(arguments...);
  check(cudaGetLastError(), action);
}

/// Starts a kernel, all of whose blocks run at the same time.
template <class Parameter>
void launch_resident(const char* action, void (*kernel)(Parameter), const Launch& by,
                     Parameter argument) {
  void* parameters[] = {&argument};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), by.grid(), by.block(),
                                    parameters, by.dynamic_shared_bytes, by.stream),
        action);
}

/// Returns the shared memory of the block that its launch requested, aligned to 1024 bytes.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(1024) std::byte warpfold_dynamic_shared[];
  return reinterpret_cast<T*>(warpfold_dynamic_shared);
}

}  // namespace warpfold::cuda
