#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/scan/scan_arguments.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

/// The scan for GPUs with bulk copies, of compute capability 9.0 and newer.
namespace warpfold::cuda::kernels {

bool scan_bulk_supports(ElementType input, ElementType output, ScanOperation operation);

/// Whether input and output reach a multiple of 16 bytes at the same element, as bulk copies need.
bool scan_bulk_applies(ElementType input_type, ElementType output_type, const void* input,
                       const void* output);

/// How many thread blocks of the scan the current device holds at once, 0 where it can't run it
/// (for want of bulk copies or shared memory); prepares the kernel for it. To be called before the
/// first scan. For supported types, as are the functions below.
std::uint32_t scan_bulk_resident_blocks(ElementType input, ElementType output,
                                        ScanOperation operation);

std::uint64_t scan_bulk_workspace_bytes(std::uint32_t resident_blocks);

/// How many epochs a launch takes at most.
std::uint32_t scan_bulk_epochs(ElementType input, ElementType output, ScanOperation operation,
                               std::uint64_t elements, std::uint32_t resident_blocks);

/// Scans arrays to which it applies; nothing for no elements.
void scan_bulk(ElementType input, ElementType output, ScanOperation operation,
               const ScanArguments& arguments, std::uint32_t resident_blocks, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
