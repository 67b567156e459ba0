#pragma once

#include <cstdint>

namespace warpfold::cuda::kernels {

/// One scan of an array in device memory, native byte order, aligned to its elements.
struct ScanArguments {
  const void* input;
  void* output;  ///< may be `input` where elements have one size
  std::uint64_t elements;
  bool exclusive;
  std::uint64_t carry;  ///< the bits of an output element: what precedes, or the identity
  void* workspace;      ///< zero before the first scan, aligned to 256 bytes
  std::uint32_t epoch;  ///< the first of this scan's; epochs begin with 1 and are used once
};

}  // namespace warpfold::cuda::kernels
