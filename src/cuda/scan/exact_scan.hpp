#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/scan/one_pass_kernels.hpp"
#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/element_type.hpp"

/// Prefix sums of floats, each rounded once, in one pass. For floating-point types; the functions
/// act on the current device.
namespace warpfold::cuda::kernels {

/// What is before an array: a sum in two's complement, and which non-finite elements.
struct ExactCarry {
  std::uint32_t digit[ExactSum::limbs];
  std::uint32_t flags;  ///< of SegmentFlag
};

enum SegmentFlag : std::uint32_t {
  nan_flag = 1,
  positive_infinity_flag = 2,
  negative_infinity_flag = 4,
  special_flags = 7
};

/// Says what the device holds of the scan, and prepares the kernel for it: before the first scan.
ResidentScan exact_scan_resident(ElementType input, ElementType output);

std::uint64_t exact_scan_workspace_bytes(std::uint32_t resident_blocks);

/// Says how many epochs a launch takes at most.
std::uint32_t exact_scan_epochs(ElementType input, ElementType output, std::uint64_t elements,
                                const ResidentScan& resident);

/// Scans a block, aligned to its elements; output may be input where sizes are equal. `workspace`
/// was zero before the first scan and is aligned to 256 bytes, `epoch` the first of this scan's.
void exact_scan(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
                std::uint32_t epoch, const ResidentScan& resident, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
