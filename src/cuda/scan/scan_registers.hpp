#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/scan/scan_arguments.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

/// The scan for GPUs without bulk copies: tiles go from global memory to registers by 16-byte
/// loads.
namespace warpfold::cuda::kernels {

bool scan_registers_supports(ElementType input, ElementType output, ScanOperation operation);

/// What a device holds of the scan at once.
struct ResidentScan {
  std::uint32_t blocks = 0;
  int block_warps = 0;  ///< that scan, of a block of many elements
};

/// Of the current device; prepares the kernel for it. To be called before the first scan. For
/// supported types, as are the functions below.
ResidentScan scan_registers_resident(ElementType input, ElementType output,
                                     ScanOperation operation);

/// How many elements a thread block takes at once where there are many.
std::uint64_t scan_registers_max_tile_elements(ElementType input, ElementType output,
                                               ScanOperation operation);

std::uint64_t scan_registers_workspace_bytes(std::uint32_t resident_blocks);

/// How many epochs a launch takes at most.
std::uint32_t scan_registers_epochs(ElementType input, ElementType output, ScanOperation operation,
                                    std::uint64_t elements, const ResidentScan& resident);

/// Scans the array; nothing for no elements. Input and output may be aligned to their elements each
/// in its own way, though reading is slower where a lane's elements do not lie alike in both.
void scan_registers(ElementType input, ElementType output, ScanOperation operation,
                    const ScanArguments& arguments, const ResidentScan& resident,
                    cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
