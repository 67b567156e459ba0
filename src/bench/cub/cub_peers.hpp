#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "warpfold/core/element_type.hpp"

/// CUB's algorithms as peers to measure beside. A build without benchmarks has none of them.
namespace warpfold::bench {

/// "CUB 3.0.1", or why there is none.
std::string cub_description();

/// One of CUB's algorithms for a type. As CUB's own: with a null `scratch` it only asks for
/// `scratch_bytes`.
using CubLaunch = cudaError_t (*)(void* scratch, std::size_t& scratch_bytes, const void* input,
                                  void* output, std::uint64_t elements, cudaStream_t stream);

struct CubSum {
  CubLaunch launch;
  ElementType output;  ///< u32 for u8, i64 for i16, f32 for narrower floats; else the input's
};

/// DeviceReduce::Sum; nothing for types it is not compiled for.
std::optional<CubSum> cub_sum(ElementType input);

/// DeviceScan's sums, in the output type's arithmetic; null for types they are not compiled for.
CubLaunch cub_scan(ElementType input, ElementType output, bool exclusive);

/// How many elements they take.
std::uint64_t max_cub_scan_elements();

}  // namespace warpfold::bench
