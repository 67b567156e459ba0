#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

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

}  // namespace warpfold::cuda
