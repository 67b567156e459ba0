#pragma once

#include <cstdint>

#include "cuda/primitives/shared_address.cuh"

/// Asynchronous copies of many bytes by one thread (PTX ISA, "cp.async.bulk"), of addresses and
/// sizes that are multiples of 16 bytes, and barriers in shared memory that count arrivals and
/// bytes copied ("mbarrier"). They need sm_90; for older GPUs this compiles to a trap.
namespace warpfold::cuda {

/// Lies in shared memory. Phases are numbered from 0; a waiting thread says the parity of the phase
/// whose end it awaits.
class Mbarrier {
 public:
  /// Called by one thread, before a barrier of the block's threads. A phase ends after `arrivals`
  /// arrivals.
  __device__ void initialize([[maybe_unused]] std::uint32_t arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                 : "memory");
#else
    __trap();
#endif
  }

  __device__ void arrive() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
#else
    __trap();
#endif
  }

  /// Arrives; the phase won't end before so many bytes were copied under this barrier.
  __device__ void arrive_and_expect([[maybe_unused]] std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
#else
    __trap();
#endif
  }

  __device__ void wait([[maybe_unused]] std::uint32_t parity) {
#if __CUDA_ARCH__ >= 900
    std::uint32_t ended = 0;
    while (ended == 0)
      asm volatile(
          "{\n"
          ".reg .pred ended;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
          "selp.u32 %0, 1, 0, ended;\n"
          "}"
          : "=r"(ended)
          : "r"(address()), "r"(parity)
          : "memory");
#else
    __trap();
#endif
  }

  __device__ std::uint32_t address() const { return shared_address(&state_); }

 private:
  std::uint64_t state_;
};

/// Makes initialized barriers visible to copies; by the thread that initialized them.
__device__ inline void fence_mbarrier_initialization() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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

/// Waits until all groups of this thread have read their shared memory.
__device__ inline void wait_for_bulk_reads() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
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
