#pragma once

#include <cstdint>

namespace warpfold::cuda {

/// Returns the lower bits of a word with one above them set. As an instruction, which takes one
/// constant: the other one stays in a register.
template <int Bits>
__device__ std::uint32_t with_leading_bit(std::uint32_t word) {
  constexpr std::uint32_t leading = 1u << Bits;
#ifdef __CUDA_ARCH__
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(word), "n"(leading - 1), "r"(leading));
  return result;
#else
  return (word & (leading - 1)) | leading;
#endif
}

}  // namespace warpfold::cuda
