#pragma once

#include <cstdint>

#include "cuda/primitives/shared_address.cuh"

/// Copies of 16 bytes by each thread from device to shared memory, which go on while it does other
/// things (PTX ISA, "cp.async"); GPUs before sm_80 copy at once.
namespace warpfold::cuda {

/// Both addresses are aligned to 16 bytes.
__device__ inline void copy_async(uint4* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
#else
  *to = __ldcg(static_cast<const uint4*>(from));
#endif
}

/// Waits until the thread's own copies are done.
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace warpfold::cuda
