#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/element_type.hpp"

/// Prefix sums of floats, each rounded once, in one pass. For floating-point types; the functions
/// act on the current device.
namespace warpfold::cuda::kernels {

/// Which non-finite elements a sum has.
enum NonFiniteFlag : std::uint32_t {
  nan_flag = 1,
  positive_infinity_flag = 2,
  negative_infinity_flag = 4,
  any_non_finite = 7
};

/// Exact sum before an array: the digits of an ExactSum in two's complement, and NonFiniteFlag.
struct ExactCarry {
  std::uint32_t digit[ExactSum::limbs];
  std::uint32_t flags;
};

/// The thread blocks of the scan that a device holds at once.
struct ResidentExactScan {
  std::uint32_t blocks = 0;
  std::uint64_t tile_elements = 0;  ///< elements of a block's tile in long arrays
  bool row_copies = false;          ///< whether it copies rows in bulk
  bool by_integers = false;         ///< whether it has no FP64 arithmetic
};

/// Chooses a kernel for the current device and prepares it: before the first scan. No blocks where
/// none fits.
ResidentExactScan exact_scan_residency(ElementType input, ElementType output);

std::uint64_t exact_scan_workspace_bytes(std::uint32_t resident_blocks);

/// Returns how many epochs a launch takes at most.
std::uint32_t exact_scan_epochs(ElementType input, ElementType output, std::uint64_t elements,
                                const ResidentExactScan& resident);

/// Scans a block, aligned to its elements; output may be input where sizes are equal. `workspace`
/// is aligned to 256 bytes and was zero before the first scan; `epoch` is the first of this scan's.
void exact_scan(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
                std::uint32_t epoch, const ResidentExactScan& resident, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
