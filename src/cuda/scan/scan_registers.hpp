#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

/// The scan of arrays in one pass, through registers, by 16-byte loads.
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

/// Returns how many bytes of workspace a scan by so many blocks takes.
std::uint64_t scan_workspace_bytes(std::uint32_t resident_blocks);

/// The part of a scan that a device holds at once.
struct ResidentScan {
  std::uint32_t blocks = 0;
  std::uint64_t tile_elements = 0;  ///< that a block takes at once where there are many
};

/// Returns what the current device holds of the scan, and prepares the kernel for it. To be called
/// before the first scan. For supported types, as are the functions below.
ResidentScan scan_registers_resident(ElementType input, ElementType output,
                                     ScanOperation operation);

/// Returns how many epochs a launch takes at most.
std::uint32_t scan_registers_epochs(ElementType input, ElementType output, ScanOperation operation,
                                    std::uint64_t elements, const ResidentScan& resident);

/// Scans the array; nothing for no elements. Input and output may be aligned to their elements each
/// in its own way, though reading is slower where a lane's elements do not lie alike in both.
void scan_registers(ElementType input, ElementType output, ScanOperation operation,
                    const ScanArguments& arguments, const ResidentScan& resident,
                    cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
