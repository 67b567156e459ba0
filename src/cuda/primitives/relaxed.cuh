#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstdint>

#include "cuda/primitives/shared_address.cuh"

/// Memory that blocks share while they run: accesses are seen by the whole GPU, in no order with
/// others (PTX ISA, ".relaxed", ".gpu"). Each word of 64 bits is read and written whole.
namespace warpfold::cuda {

__device__ inline std::uint64_t load_relaxed(const std::uint64_t* word) {
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

__device__ inline void store_relaxed(std::uint64_t* word, std::uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/// Both words at once; aligned to 16 bytes.
__device__ inline ulonglong2 load_relaxed(const ulonglong2* words) {
  ulonglong2 value;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(value.x), "=l"(value.y)
               : "l"(words)
               : "memory");
  return value;
}

__device__ inline void store_relaxed(ulonglong2* words, const ulonglong2& value) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(words), "l"(value.x),
               "l"(value.y)
               : "memory");
}

/// Stores two words of 64 bits, each whole, to memory that the host reads (".sys").
template <class T>
__device__ void store_to_host(T* words, const T& value) {
  static_assert(sizeof(T) == sizeof(ulonglong2));
  const auto halves = std::bit_cast<ulonglong2>(value);
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(words), "l"(halves.x),
               "l"(halves.y)
               : "memory");
}

/// Counters in shared memory by which the warps of a block wait for one another: who sees a value
/// stored sees also what was written before (".release", ".acquire", ".cta").
__device__ inline void store_release(std::uint32_t* counter, std::uint32_t value) {
  asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(shared_address(counter)), "r"(value)
               : "memory");
}

__device__ inline std::uint32_t load_acquire(const std::uint32_t* counter) {
  std::uint32_t value;
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];"
               : "=r"(value)
               : "r"(shared_address(counter))
               : "memory");
  return value;
}

/// All 16 bytes at once, also seen by others: aligned to them.
template <class T>
__device__ T load_whole(const T* words) {
  static_assert(sizeof(T) == 16);
  ulonglong2 value;
  asm volatile(
      "{ .reg .b128 whole; ld.relaxed.gpu.global.b128 whole, [%2]; mov.b128 {%0, %1}, whole; }"
      : "=l"(value.x), "=l"(value.y)
      : "l"(words)
      : "memory");
  return std::bit_cast<T>(value);
}

template <class T>
__device__ void store_whole(T* words, const T& value) {
  static_assert(sizeof(T) == 16);
  const auto halves = std::bit_cast<ulonglong2>(value);
  asm volatile(
      "{ .reg .b128 whole; mov.b128 whole, {%1, %2}; st.relaxed.gpu.global.b128 [%0], whole; }" ::
          "l"(words),
      "l"(halves.x), "l"(halves.y)
      : "memory");
}

}  // namespace warpfold::cuda
