#pragma once

#include <cstdint>

#include "cuda/primitives/mbarrier.cuh"

/// Asynchronous copies of many bytes by one thread (PTX ISA, "cp.async.bulk"). Addresses and sizes
/// are multiples of 16 bytes. They need sm_90; for older GPUs this compiles to a trap.
namespace warpfold::cuda {

/// Counts the bytes on `copied` as they arrive.
__device__ inline void bulk_copy_to_shared([[maybe_unused]] void* shared,
                                           [[maybe_unused]] const void* global,
                                           [[maybe_unused]] std::uint32_t bytes,
                                           [[maybe_unused]] const Mbarrier& copied) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(copied.address())
      : "memory");
#else
  __trap();
#endif
}

/// Follows fence_shared_writes() of the threads that wrote the bytes.
__device__ inline void bulk_copy_to_global([[maybe_unused]] void* global,
                                           [[maybe_unused]] const void* shared,
                                           [[maybe_unused]] std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
#else
  __trap();
#endif
}

/// Closes the group of the copies to global memory that this thread has started.
__device__ inline void commit_bulk_copies() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  __trap();
#endif
}

/// Waits until all groups of this thread but the last `pending` have read their shared memory.
template <int pending>
__device__ void wait_for_bulk_reads() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
#else
  __trap();
#endif
}

/// Makes this thread's writes to shared memory visible to bulk copies.
__device__ inline void fence_shared_writes() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  __trap();
#endif
}

}  // namespace warpfold::cuda
