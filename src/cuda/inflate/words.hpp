#pragma once

#include <cstdint>

#ifndef __CUDACC__
#include <bit>
#endif

/// Marks what the lanes of a warp run, on a GPU or, emulated, on the host.
#ifdef __CUDACC__
#define WARPFOLD_WARP_CODE __device__
#else
#define WARPFOLD_WARP_CODE
#endif

namespace warpfold::cuda::inflate {

/// Returns the lower word of high:low shifted right by the lower 5 bits of `bits`.
WARPFOLD_WARP_CODE inline std::uint32_t shifted_right(std::uint32_t low, std::uint32_t high,
                                                      std::uint32_t bits) {
#ifdef __CUDACC__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (bits & 31));
#endif
}

/// Returns the upper word of high:low shifted left by the lower 5 bits of `bits`.
WARPFOLD_WARP_CODE inline std::uint32_t shifted_left(std::uint32_t low, std::uint32_t high,
                                                     std::uint32_t bits) {
#ifdef __CUDACC__
  return __funnelshift_l(low, high, bits);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32 | low) << (bits & 31)) >> 32);
#endif
}

/// Returns bytes 1 to 3 of `bytes`, and above them byte 1 of `added`.
WARPFOLD_WARP_CODE inline std::uint32_t pushed(std::uint32_t bytes, std::uint32_t added) {
#ifdef __CUDACC__
  return __byte_perm(bytes, added, 0x5321);
#else
  return bytes >> 8 | (added >> 8 & 255) << 24;
#endif
}

/// Returns the bits in reverse order.
WARPFOLD_WARP_CODE inline std::uint32_t reversed(std::uint32_t bits) {
#ifdef __CUDACC__
  return __brev(bits);
#else
  bits = (bits >> 1 & 0x55555555U) | (bits & 0x55555555U) << 1;
  bits = (bits >> 2 & 0x33333333U) | (bits & 0x33333333U) << 2;
  bits = (bits >> 4 & 0x0f0f0f0fU) | (bits & 0x0f0f0f0fU) << 4;
  return __builtin_bswap32(bits);
#endif
}

WARPFOLD_WARP_CODE inline std::uint32_t count_ones(std::uint32_t bits) {
#ifdef __CUDACC__
  return static_cast<std::uint32_t>(__popc(bits));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
#endif
}

/// Returns the number of the lowest bit that is set, of a word that has one.
WARPFOLD_WARP_CODE inline std::uint32_t lowest_one(std::uint32_t bits) {
#ifdef __CUDACC__
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_zero(bits));
#endif
}

}  // namespace warpfold::cuda::inflate
