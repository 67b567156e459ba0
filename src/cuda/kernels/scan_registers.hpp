#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/kernels/scan_arguments.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

/// The scan for GPUs without bulk copies: tiles go from global memory to registers by 16-byte
/// loads.
namespace warpfold::cuda::kernels {

bool scan_registers_supports(ElementType input, ElementType output, ScanOperation operation);

/// How many thread blocks of the scan the current device holds at once; prepares the kernel for it.
/// To be called before the first scan. For supported types, as are the functions below.
std::uint32_t scan_registers_resident_blocks(ElementType input, ElementType output,
                                             ScanOperation operation);

/// How many elements a thread block takes at once where there are many.
std::uint64_t scan_registers_most_tile_elements(ElementType input, ElementType output,
                                                ScanOperation operation);

std::uint64_t scan_registers_workspace_bytes(std::uint32_t resident_blocks);

/// How many epochs a launch takes at most.
std::uint32_t scan_registers_epochs(ElementType input, ElementType output, ScanOperation operation,
                                    std::uint64_t elements, std::uint32_t resident_blocks);

/// Scans the array; nothing for no elements. Input and output may be aligned to their elements each
/// in its own way, though reading is slower where a lane's elements do not lie alike in both.
void scan_registers(ElementType input, ElementType output, ScanOperation operation,
                    const ScanArguments& arguments, std::uint32_t resident_blocks,
                    cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
