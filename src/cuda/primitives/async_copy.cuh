#pragma once

#include <cstdint>

#include "cuda/primitives/shared_address.cuh"

/// Copies of 16 bytes by each thread from device to shared memory, which go on while it does other
/// things (PTX ISA, "cp.async"); GPUs before sm_80 copy at once.
namespace warpfold::cuda {

/// Copies go on while the thread does other things.
#if __CUDA_ARCH__ >= 800
inline constexpr bool has_async_copies = true;
#else
inline constexpr bool has_async_copies = false;
#endif

/// Both addresses are aligned to 16 bytes.
__device__ inline void copy_async(uint4* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
#else
  *to = __ldcg(static_cast<const uint4*>(from));
#endif
}

/// Closes the group of the copies that this thread has started.
__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all groups of this thread but the last `pending` are done.
template <int pending>
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

}  // namespace warpfold::cuda
