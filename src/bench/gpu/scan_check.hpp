#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "bench/kernels/check_scan.hpp"

namespace warpfold::bench {

/// The number that kernels::count_scan_mismatches() counts behind what `stream` holds.
std::uint64_t scan_mismatches(const kernels::ClaimedScan& scan, cudaStream_t stream);

/// The distance that kernels::greatest_distance() finds behind what `stream` holds.
std::uint64_t greatest_distance(const void* a, const void* b, std::uint64_t elements,
                                ElementType type, cudaStream_t stream);

}  // namespace warpfold::bench
